import StrataLog

// Stores that were made before the history named the ends of links that are gone.
extension StoreOpening {
    /// Has the history keep the ends of links that are deleted from now on. Nothing happens where it does already, in a
    /// store that is opened read-only, and while another coordinator uses the store: a later opening does it then.
    ///
    /// Durable when it returns, unless the disk refuses: what has to be written then tells so, and the store can be
    /// read as before.
    ///
    /// - Complexity: O(1).
    func keepEndsOfLinks(_ stored: StoredModel, _ log: LogStore) {
        guard !log.isReadOnly, options.access == .readWrite else { return }
        let links = Set(stored.entities.filter { $0.versionHash == nil }.map(\.number))
        var schema = log.schema
        for index in schema.entities.indices where links.contains(schema.entities[index].id) {
            for side in 0...1 { schema.entities[index].slots[side].preservedInHistory = true }
        }
        guard schema != log.schema, let reservation = SharedLogs.reserve(log) else { return }
        defer { SharedLogs.endReservation(log, reservation) }
        try? log.register(schema.standalone)
    }
}
