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
