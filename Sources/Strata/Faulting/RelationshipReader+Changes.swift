import StrataLog

extension RelationshipReader {
    /// How many members there are with those that a context has added and without those that it has removed, whatever
    /// others have done. Nil when that is not known without reading all.
    ///
    /// - Parameter isWanted: which of the added ones count.
    func count(
        _ relationship: RelationshipShape, of owner: NSManagedObject, with state: ToManyState?,
        adding isWanted: (NSManagedObject) -> Bool = { _ in true }
    ) throws(StoreError) -> Int? {
        guard var count = try count(relationship, of: owner.ref) else { return nil }
        guard let state, state.isChanged else { return count }
        func isStored(_ member: NSManagedObject) throws(StoreError) -> Bool {
            if member.storeIndex != owner.storeIndex { return false }
            return try isMember(member.ref, relationship, of: owner.ref)
        }
        for member in state.added.objects where isWanted(member) {
            if try !isStored(member) { count += 1 }
        }
        for member in state.removed.objects where try isStored(member) { count -= 1 }
        return count
    }
}
