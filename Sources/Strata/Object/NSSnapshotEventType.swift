/// Why an object's values were replaced.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The number that Core Data gives it.
    public let rawValue: UInt

    /// The events with that number.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// An insertion was undone.
    public static var undoInsertion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 1) }
    /// A deletion was undone.
    public static var undoDeletion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 2) }
    /// A change was undone.
    public static var undoUpdate: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 3) }
    /// The context was rolled back.
    public static var rollback: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 4) }
    /// The object was refreshed.
    public static var refresh: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 5) }
    /// A merge policy resolved a conflict.
    public static var mergePolicy: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 6) }
}
