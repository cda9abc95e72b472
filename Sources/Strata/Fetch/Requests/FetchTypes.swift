/// What a fetch returns.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    /// The number that Core Data gives it.
    public let rawValue: UInt

    /// The result type with that number.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Managed objects.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// Object identifiers.
    public static var managedObjectIDResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 1) }
    /// Dictionaries of the properties asked for.
    public static var dictionaryResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 2) }
    /// One number: how many objects there are.
    public static var countResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 4) }
}

/// What happened to an object in the results of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It came in.
    case insert = 1
    /// It went out.
    case delete = 2
    /// It has another place.
    case move = 3
    /// It changed in its place.
    case update = 4
}
