import Foundation
import StrataIO
import Synchronization
import SystemPackage

/// Shows how far the copy of a store is, by the size of what is there, from a thread of its own.
final class CopyProgress: Sendable {
    private let isDone = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    init(from source: FilePath, to target: FilePath) {
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            let bar = ProgressBar("copying", .bytes)
            defer { bar.finish() }
            let total = Self.byteCount(source)
            // What a copy is called until it is complete.
            let copy = FilePath(target.string + ".strata-copy")
            repeat {
                bar.update(min(Self.byteCount(copy), total), of: total)
                usleep(50_000)
            } while !isDone.withLock { $0 }
        }
    }

    /// Ends the thread, and takes the bar away. Does nothing the second time.
    func finish() {
        guard
            isDone.withLock({ done in
                defer { done = true }
                return !done
            })
        else { return }
        ended.wait()
    }

    /// Of the files in a directory; 0 where there is none.
    static func byteCount(_ directory: FilePath) -> Int {
        let fileSystem = PosixFileSystem()
        return ((try? fileSystem.list(directory)) ?? []).reduce(0) { sum, name in
            sum + Int((try? fileSystem.attributes(directory.appending(name))?.byteCount) ?? 0)
        }
    }
}
