import StrataLog

/// Reads to-many relationships from a snapshot.
struct RelationshipReader {
    let handle: StoreHandle
    let snapshot: Snapshot

    struct Member {
        var ref: ObjectRef
        var position: Int64
        /// The row that keeps the membership, for relationships kept by links.
        var link: Row?
    }

    /// The members, in order if the relationship is ordered.
    ///
    /// - Complexity: O(n); reads rows only for ordered relationships and for those kept by links.
    func members(_ relationship: RelationshipShape, of owner: ObjectRef) throws(StoreError) -> [Member] {
        var members: [Member]
        switch relationship.storage {
        case .slot: return []
        case .inverse(let slot):
            let postings = handle.map.postings(relationship.destination, slot)
            members = try snapshot.referrers(postings: postings, to: owner).map { Member(ref: $0, position: 0) }
            guard let positionSlot = relationship.positionSlot else { return members }
            for index in members.indices {
                guard let row = try snapshot.row(members[index].ref) else { continue }
                members[index].position = try row.block.column(positionSlot).int64(row.index)
            }
        case .link(let link, let side):
            members = try linked(link, side, owner)
            if relationship.isSymmetric {
                let others = try linked(link, 1 - side, owner)
                members += others.filter { $0.ref != owner }
            }
        }
        if relationship.isOrdered { members.sort { ($0.position, $0.ref) < ($1.position, $1.ref) } }
        return members
    }

    private func linked(_ link: LinkShape, _ side: Int, _ owner: ObjectRef) throws(StoreError) -> [Member] {
        var members: [Member] = []
        for ref in try snapshot.referrers(postings: handle.map.linkPostings(link, side), to: owner) {
            guard let row = try snapshot.row(ref) else { continue }
            let member = try row.block.column(1 - side).reference(row.index)
            let position = try row.block.column(2 + side).int64(row.index)
            members.append(Member(ref: member, position: position, link: row))
        }
        return members
    }

    /// Reads no rows.
    func count(_ relationship: RelationshipShape, of owner: ObjectRef) throws(StoreError) -> Int? {
        switch relationship.storage {
        case .slot: return nil
        case .inverse(let slot):
            return try snapshot.referrerCount(
                postings: handle.map.postings(relationship.destination, slot), to: owner)
        case .link(let link, let side):
            if relationship.isSymmetric { return nil }
            return try snapshot.referrerCount(postings: handle.map.linkPostings(link, side), to: owner)
        }
    }
}
