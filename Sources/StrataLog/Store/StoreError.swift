public import SystemPackage

/// An error of the engine, with the location it concerns.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for code that reacts to it.
    public enum Code: Sendable, Hashable {
        /// A system call failed; see ``StoreError/errno``. The operation had no effect unless the message says
        /// otherwise.
        case io
        /// Bytes are not what was written: nothing was cut or changed.
        case corruption
        /// Another process (or another open of this one) writes the store.
        case locked
        /// The store was opened read-only, or refuses writes after a flush failed twice.
        case readOnly
        /// Rows changed since they were read, see ``StoreError/conflicts``, or would have values that other rows have,
        /// see ``StoreError/uniqueConflicts``. Nothing was written.
        case conflict
        /// A row, a value or a transaction is over a limit of the format.
        case tooLarge
        /// The file's format or cipher is not one this version reads.
        case unsupportedFormat
        /// The store's rows have another shape than asked for.
        case schemaMismatch
        /// Nothing there, and the options do not allow creating it.
        case notFound
        /// A point of the past that the store does not retain any more.
        case expired
        /// The store has been closed; snapshots stay readable.
        case closed
        /// The caller broke a rule of the interface.
        case invalidArgument
        /// The caller asked to stop. What was done stays done.
        case cancelled
    }

    /// The kind of failure.
    public var code: Code
    /// What went wrong and, where there is something, what to do about it.
    public var message: String
    /// With ``Code/io``: the error of the system call.
    public var errno: Errno?
    /// The file or directory.
    public var path: String?
    /// The number of the segment.
    public var segment: UInt32?
    /// Bytes from the beginning of the segment.
    public var offset: Int?
    /// With ``Code/conflict``: objects whose rows have changed since they were read, or are gone.
    public var conflicts: [ObjectRef]
    /// With ``Code/conflict``: rows whose values must be unique and are not.
    public var uniqueConflicts: [UniqueConflict]
    /// Whether a checkpoint could not be read, which is a cache: the log has everything that it says.
    var isOfCheckpoint = false

    /// An error; what is not given does not apply.
    public init(
        _ code: Code, _ message: String, errno: Errno? = nil, path: String? = nil, segment: UInt32? = nil,
        offset: Int? = nil, conflicts: [ObjectRef] = [], uniqueConflicts: [UniqueConflict] = []
    ) {
        self.code = code
        self.message = message
        self.errno = errno
        self.path = path
        self.segment = segment
        self.offset = offset
        self.conflicts = conflicts
        self.uniqueConflicts = uniqueConflicts
    }

    /// The message, with where it happened.
    public var description: String {
        var text = message
        if let errno { text += ": \(errno)" }
        if let path { text += " (\(path))" }
        if let segment { text += " [segment \(segment)" + (offset.map { ", offset \($0)" } ?? "") + "]" }
        return text
    }
}
