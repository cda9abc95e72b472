/// A store that can be asked to give back the space of what was deleted.
public protocol ShrinkingStore: Contestant {
    /// Brings the store into its smallest form, the store still open.
    func shrink() throws
}
