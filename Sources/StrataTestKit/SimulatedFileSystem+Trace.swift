internal import Synchronization
public import SystemPackage

extension SimulatedFileSystem {
    /// Something that changed the disk.
    public struct Operation: Sendable, CustomStringConvertible {
        /// What was called.
        public let call: Call
        /// The path the call, or the opening of its file, was given.
        public let path: String
        /// Set when the operation is a flush that failed.
        public let failure: Errno?
        let change: SimulatedDisk.Change

        /// One line for whoever repeats a finding.
        public var description: String {
            let suffix = failure.map { " fails: \($0)" } ?? ""
            return switch change {
            case .write(_, let offset, let bytes): "write \(path) at \(offset), \(bytes.count) bytes"
            case .truncate(_, let byteCount): "truncate \(path) to \(byteCount)"
            case .preallocate(_, let end): "preallocate \(path) to \(end)"
            case .corrupt(_, let corruption): "corrupt \(path): \(corruption)"
            default: "\(call) \(path)\(suffix)"
            }
        }
    }

    /// A note in the trace.
    public struct Mark: Sendable, Equatable {
        /// What ``SimulatedFileSystem/mark(_:)`` was given.
        public let note: String
        /// How many operations had happened. A crash after `operationCount` operations or more comes after the mark.
        public let operationCount: Int
    }

    /// All that happened to a disk: replayed, it gives the same disk, and any crash of it.
    public struct Trace: Sendable {
        let base: SimulatedDisk
        /// In the order in which they happened.
        public let operations: [Operation]
        /// In the order in which they were made.
        public let marks: [Mark]

        /// Number of operations; crash points are 0...count.
        public var count: Int { operations.count }

        /// The disk as it is found after a crash that let the first `operationCount` operations happen.
        ///
        /// Complexity: O(bytes written by these operations). To visit many crash points use ``cursor()``.
        public func image(after operationCount: Int, policy: CrashPolicy, seed: UInt64) -> SimulatedFileSystem {
            var cursor = cursor()
            cursor.advance(to: operationCount)
            return cursor.image(policy: policy, seed: seed)
        }

        /// A replay that stands before the first operation.
        public func cursor() -> Cursor {
            Cursor(trace: self)
        }

        /// The notes that had been made when the first `operationCount` operations had happened.
        public func notes(after operationCount: Int) -> [String] {
            marks.prefix { $0.operationCount <= operationCount }.map(\.note)
        }
    }

    /// A replay of a trace, operation by operation, that can crash at each. A value: copies advance on their own.
    public struct Cursor: Sendable {
        /// What is replayed.
        public let trace: Trace
        /// How many operations have been replayed.
        public private(set) var position = 0
        private var disk: SimulatedDisk

        init(trace: Trace) {
            self.trace = trace
            disk = trace.base
        }

        /// Replays the next operation; false when there is none. Complexity: O(bytes the operation writes or flushes).
        @discardableResult
        public mutating func advance() -> Bool {
            guard position < trace.count else { return false }
            disk.apply(trace.operations[position].change)
            position += 1
            return true
        }

        /// Replays up to a later position.
        public mutating func advance(to target: Int) {
            precondition(
                (position...trace.count).contains(target), "cannot go from \(position) to \(target) of \(trace.count)")
            while position < target {
                advance()
            }
        }

        /// Whether crashes here can differ. When not, all policies and seeds give the same image.
        public var hasUnsyncedChanges: Bool {
            disk.hasUnsyncedChanges
        }

        /// The notes made up to here.
        public var notes: [String] {
            trace.notes(after: position)
        }

        /// The disk as it is found after a crash here, as a file system with a trace of its own.
        ///
        /// Complexity: O(number of files and names + bytes not flushed).
        public func image(policy: CrashPolicy, seed: UInt64) -> SimulatedFileSystem {
            SimulatedFileSystem(disk: disk.crashed(policy, seed: seed))
        }
    }

    /// What has happened so far.
    public var trace: Trace {
        state.withLock { Trace(base: $0.base, operations: $0.operations, marks: $0.marks) }
    }

    /// How many operations have happened so far.
    public var operationCount: Int {
        state.withLock { $0.operations.count }
    }

    /// Puts a note into the trace. Ignored when the machine is off.
    public func mark(_ note: String) {
        state.withLock { state in
            if !state.isOff { state.marks.append(Mark(note: note, operationCount: state.operations.count)) }
        }
    }
}
