/// A model and what is done with it.
struct Program {
    var model: RandomModel
    var operations: [Operation]
    /// Whether the program keeps its objects until it is told to forget them.
    var holdsObjects: Bool
    /// Whether its second context is on a coordinator of its own.
    var hasTwoCoordinators: Bool
    /// Whether its contexts can undo, up to the last save.
    var hasUndo: Bool
    /// Whether somebody reads the store while it is written, with a log of its own as in another process.
    var hasFollower: Bool
    /// Whether the store can be closed and opened again.
    var canReopen: Bool
}
