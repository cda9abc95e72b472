import Foundation

/// What a thread is to do as soon as it holds no place among those that search: whoever holds one runs none of the
/// program's code, which may wait for a thread that waits for the place.
package enum AfterSearch {
    private final class Work {
        var depth = 0
        var blocks: [() -> Void] = []
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { work in
            if let work { Unmanaged<Work>.fromOpaque(work).release() }
        }
        precondition(result == 0, "the process has no thread-specific keys left")
        return key
    }()

    private static var known: Work? {
        pthread_getspecific(key).map { Unmanaged<Work>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the calling thread holds a place, and so may not wait for another one.
    package static var isInside: Bool { known.map { $0.depth > 0 } ?? false }

    /// The calling thread is about to take a place. ``end()`` follows on the same thread.
    package static func begin() {
        if let known {
            known.depth += 1
            return
        }
        let new = Work()
        new.depth = 1
        pthread_setspecific(key, Unmanaged.passRetained(new).toOpaque())
    }

    /// The place has been given back: does what was put off, unless the thread has another one.
    package static func end() {
        guard let known else { return }
        known.depth -= 1
        while known.depth == 0, !known.blocks.isEmpty {
            let blocks = known.blocks
            known.blocks = []
            for block in blocks { block() }
        }
    }

    /// Runs a block, at once if the calling thread holds no place.
    package static func run(_ block: @escaping () -> Void) {
        if let known, known.depth > 0 { known.blocks.append(block) } else { block() }
    }
}
