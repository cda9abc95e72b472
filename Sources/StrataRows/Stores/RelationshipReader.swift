import StrataLog

/// Reads to-many relationships from a snapshot.
package struct RelationshipReader {
    package let handle: StoreHandle
    package let snapshot: Snapshot

    package init(handle: StoreHandle, snapshot: Snapshot) {
        self.handle = handle
        self.snapshot = snapshot
    }

    package struct Member {
        package var ref: ObjectRef
        package var position: Int64
        /// The row that keeps the membership, for relationships kept by links, if it was read.
        package var link: Row?

        package init(ref: ObjectRef, position: Int64, link: Row? = nil) {
            self.ref = ref
            self.position = position
            self.link = link
        }
    }

    /// The members, in order if the relationship is ordered.
    ///
    /// - Parameter withLinks: whether the rows are wanted that keep the memberships.
    /// - Complexity: O(n); reads rows only for ordered relationships, if the links are wanted, and as long as their
    ///   index is being built.
    package func members(
        _ relationship: RelationshipShape, of owner: ObjectRef, withLinks: Bool = false
    ) throws(StoreError) -> [Member] {
        var members: [Member]
        switch relationship.storage {
        case .slot: return []
        case .inverse(let slot):
            let postings = handle.map.postings(relationship.destination, slot)
            members = try snapshot.referrers(postings: postings, to: owner).map { Member(ref: $0, position: 0) }
            guard let positionSlot = relationship.positionSlot else { return members }
            var rows = RowReader(snapshot)
            for index in members.indices {
                guard let row = try rows.row(members[index].ref) else { continue }
                members[index].position = try row.block.column(positionSlot).int64(row.index)
            }
        case .link(let link, let side):
            let sides = relationship.isSymmetric ? [side, 1 - side] : [side]
            members = []
            if !withLinks, !relationship.isOrdered, let others = try paired(link, sides, owner) {
                return others.map { Member(ref: $0, position: 0) }
            }
            for side in sides {
                let linked = try linked(link, side, owner)
                members += side == sides[0] ? linked : linked.filter { $0.ref != owner }
            }
        }
        if relationship.isOrdered { members.sort { ($0.position, $0.ref.key) < ($1.position, $1.ref.key) } }
        return members
    }

    /// The indexes that lead from some sides of links to the others; nil unless all are there.
    package func pairs(_ link: LinkShape, _ sides: [Int]) -> [OrderedIndex]? {
        let number = handle.map.linkNumber(link)
        let indexes = sides.compactMap { snapshot.pairs(of: number, from: $0) }
        return indexes.count == sides.count ? indexes : nil
    }

    /// What links lead to from some of their sides; nil when that has to be read from the links.
    private func paired(
        _ link: LinkShape, _ sides: [Int], _ owner: ObjectRef
    ) throws(StoreError) -> [ObjectRef]? {
        guard let indexes = pairs(link, sides) else { return nil }
        return try handle.rebuildingIfDamaged(indexes) { () throws(StoreError) in
            var others: [ObjectRef] = []
            for index in indexes {
                let isSecond = index !== indexes[0]
                try index.forEachPair(of: owner) { other, _ in
                    if !isSecond || other != owner { others.append(other) }
                    return true
                }
            }
            return others
        }
    }

    private func linked(_ link: LinkShape, _ side: Int, _ owner: ObjectRef) throws(StoreError) -> [Member] {
        var members: [Member] = []
        var rows = RowReader(snapshot)
        for ref in try snapshot.referrers(postings: handle.map.linkPostings(link, side), to: owner) {
            guard let row = try rows.row(ref) else { continue }
            let member = try row.block.column(1 - side).reference(row.index)
            let position = try row.block.column(2 + side).int64(row.index)
            members.append(Member(ref: member, position: position, link: row))
        }
        return members
    }

    /// The row that links two objects, nil if there is none.
    ///
    /// - Complexity: O(log n); while the index is being built, O(n) in the links of the end that has fewer.
    package func link(_ link: LinkShape, _ first: ObjectRef, _ second: ObjectRef) throws(StoreError) -> Row? {
        if let index = snapshot.pairs(of: handle.map.linkNumber(link), from: 0) {
            let found = try handle.rebuildingIfDamaged([index]) { () throws(StoreError) -> Row?? in
                guard let ref = try index.row(pairing: first, with: second) else { return .some(nil) }
                return try snapshot.row(ref)
            }
            if let found { return found }
        }
        let (firsts, seconds) = (handle.map.linkPostings(link, 0), handle.map.linkPostings(link, 1))
        let counts = (
            try snapshot.referrerCount(postings: firsts, to: first),
            try snapshot.referrerCount(postings: seconds, to: second)
        )
        if counts.0 == 0 || counts.1 == 0 { return nil }
        let refs =
            counts.0 <= counts.1
            ? try snapshot.referrers(postings: firsts, to: first)
            : try snapshot.referrers(postings: seconds, to: second)
        var rows = RowReader(snapshot)
        for ref in refs {
            guard let row = try rows.row(ref) else { continue }
            if try row.block.column(0).reference(row.index) == first,
                try row.block.column(1).reference(row.index) == second
            {
                return row
            }
        }
        return nil
    }

    /// Whether an object is stored as a member.
    package func isMember(
        _ member: ObjectRef, _ relationship: RelationshipShape, of owner: ObjectRef
    ) throws(StoreError) -> Bool {
        switch relationship.storage {
        case .slot: return false
        case .inverse(let slot):
            guard let row = try snapshot.row(member) else { return false }
            return try row.block.column(slot).reference(row.index) == owner
        case .link(let link, let side):
            var (first, second) = side == 0 ? (owner, member) : (member, owner)
            if relationship.isSymmetric, first > second { swap(&first, &second) }
            return try self.link(link, first, second) != nil
        }
    }

    /// Reads no rows.
    package func count(_ relationship: RelationshipShape, of owner: ObjectRef) throws(StoreError) -> Int? {
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
