import StrataLog

/// Which slots properties had in the rows of earlier models: what change tables and preserved values name.
package struct SlotVersions {
    private let log: LogStore
    /// The schema versions, with the last transaction before each.
    private let versions: [(version: UInt16, since: UInt64)]

    package init(_ log: LogStore) {
        self.log = log
        let schemas = log.schemas
        guard schemas.contains(where: \.schema.isMigration) else {
            versions = []
            return
        }
        versions = schemas.map { ($0.version, (try? StoredModel(bytes: $0.schema.model))?.since ?? 0) }
    }

    /// The slots of today that changed, of those that a transaction says.
    package func slots(_ changed: SlotSet, of entity: UInt16, in sequence: UInt64) throws(StoreError) -> SlotSet {
        guard let version = version(of: sequence), let sources = try log.slots(of: entity, inVersion: version) else {
            return changed
        }
        return SlotSet(sources.indices.filter { slot in sources[slot].map { changed.contains($0) } == true })
    }

    /// Where a slot of today lay in rows of a version; nil if it did not.
    package func slot(_ slot: Int, of entity: UInt16, inVersion version: UInt16) throws(StoreError) -> Int? {
        guard !versions.isEmpty, let sources = try log.slots(of: entity, inVersion: version) else { return slot }
        return slot < sources.count ? sources[slot] : nil
    }

    private func version(of sequence: UInt64) -> UInt16? {
        versions.last { $0.since < sequence }?.version ?? versions.first?.version
    }
}
