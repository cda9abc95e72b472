/// Something that keeps memory to be faster next time, and can do without it. Thread-safe.
package protocol MemoryHolder: AnyObject, Sendable {
    /// What it keeps, as far as it has told the budget.
    var heldBytes: Int { get }

    /// Lets go of what was not used since the last call.
    ///
    /// - Returns: how often something was used since, about.
    func giveBackUnused() -> Int

    /// Lets go of what may soonest be missed least, until no more than this is kept.
    func shrink(to byteCount: Int)
}
