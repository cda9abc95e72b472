extension NSManagedObjectContext {
    /// Ends the event, so that whoever listens hears of its changes before a request reads them.
    ///
    /// Not in the middle of something: the request then is one of the program's own code, called for a row of another
    /// request or by an object that is being made, and sees the changes all the same. Listeners hear of them when the
    /// event ends.
    final func processChangesBeforeReading() {
        // Whether the queue is the right one has been checked; a wrong one is reported once.
        guard underWay == 0 else { return }
        pipeline.processChanges()
        stateMayHaveChanged()
    }

    /// Runs something that calls the program's code and is not to be seen half done.
    @inline(__always)
    final func undisturbed<Result>(_ body: () throws -> Result) rethrows -> Result {
        underWay += 1
        defer { underWay -= 1 }
        return try body()
    }
}
