import Foundation
import StrataIO
import Synchronization
import SystemPackage
import Testing

/// Many threads on one file.
@Suite struct ConcurrencyTests {
    @Test(arguments: FileSystemKind.allCases) func readersSeeWhatWasAppended(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            let steps = 1000
            let expected = { @Sendable (step: Int) in [UInt8](repeating: UInt8(step % 250 + 1), count: 100) }
            runThreads(4) { thread in
                guard thread > 0 else {
                    for step in 0..<steps {
                        try file.write(expected(step), at: Int64(step) * 100)
                    }
                    return
                }
                var last = 0
                while last < steps - 1 {
                    let written = Int(try file.byteCount()) / 100
                    guard written > 0 else { continue }
                    last = written - 1
                    for step in [last, last * (thread - 1) / 3] {
                        let bytes = try file.bytes(100, at: Int64(step) * 100)
                        #expect(bytes == expected(step))
                    }
                }
            }
        }
    }

    @Test(arguments: FileSystemKind.allCases) func closingNeverLetsAReadReachAnotherFile(
        kind: FileSystemKind
    ) throws {
        try kind.withDirectory { fs, directory in
            let (right, wrong) = (directory.appending("right"), directory.appending("wrong"))
            try fs.open(right, .create).write([UInt8](repeating: 1, count: 4096), at: 0)
            try fs.open(wrong, .create).write([UInt8](repeating: 2, count: 4096), at: 0)
            for _ in 0..<200 {
                let file = try fs.open(right, .read)
                runThreads(2) { thread in
                    guard thread > 0 else {
                        try file.close()
                        for _ in 0..<4 {
                            _ = try fs.open(wrong, .read).bytes(10)
                        }
                        return
                    }
                    while let bytes = try? file.bytes(4096) {
                        #expect(bytes.count == 4096 && bytes.allSatisfy { $0 == 1 })
                    }
                    #expect(throws: Errno.badFileDescriptor) { try file.bytes(1) }
                }
            }
        }
    }
}

/// Runs the body on so many threads of their own and waits for all; what they throw becomes an issue.
private func runThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let errors = ThrownErrors()
    let finished = DispatchGroup()
    for index in 0..<count {
        finished.enter()
        Thread.detachNewThread {
            do {
                try body(index)
            } catch {
                errors.list.withLock { $0.append("\(error)") }
            }
            finished.leave()
        }
    }
    finished.wait()
    #expect(errors.list.withLock { $0 } == [])
}

private final class ThrownErrors: Sendable {
    let list = Mutex<[String]>([])
}
