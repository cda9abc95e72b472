/// Where a part of a save goes: the log of a store (``StoreEnding``), a store of the program's own
/// (``CustomStoreEnding``), or the parent context (``ParentEnding``).
///
/// ``SavePipeline`` has all endings write before the first one finishes.
protocol SaveEnding: AnyObject {
    /// What goes there.
    var changes: ObjectChanges { get }

    /// Hands the changes over.
    ///
    /// - Throws: why they have not arrived; nothing has changed there then.
    func write() throws

    /// Brings the objects in line with what has arrived, while they still count as changed.
    func finish()
}
