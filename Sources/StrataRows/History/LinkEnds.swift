import StrataLog

/// The ends of the links that keep relationships which are to-many at both ends, or have no inverse: what changes of
/// their rows mean for objects.
package struct LinkEnds {
    /// An object, and its relationship at which a link ends.
    package struct End {
        package let ref: ObjectRef
        package let shape: EntityShape
        package let relationship: RelationshipShape
    }

    private let map: StoreMap
    private let link: Int

    /// Nil when the number is not that of a link's hidden entity.
    package init?(_ map: StoreMap, _ entity: UInt16) {
        guard let link = map.linkIndex(entity) else { return nil }
        self.map = map
        self.link = link
    }

    /// The object at one side of a link. Nil where there is no relationship: at the far end of one without inverse.
    ///
    /// - Parameters:
    ///   - ref: what the link refers to there.
    ///   - side: 0 or 1.
    package func end(_ ref: ObjectRef, _ side: Int) -> End? {
        guard let shape = map.shape(ref.entity) else { return nil }
        let relationship = shape.relationships.first { relationship in
            guard case .link(let link, let own) = relationship.storage, link.index == self.link else { return false }
            return own == side || relationship.isSymmetric
        }
        return relationship.map { End(ref: ref, shape: shape, relationship: $0) }
    }

    /// Whether a link of the same objects is there in another state of the store.
    package func isThere(_ refs: LinkRefs, in snapshot: Snapshot, _ handle: StoreHandle) throws(StoreError) -> Bool {
        // Side 0 always has a relationship: the one that gave the link its name.
        guard case .link(let link, _)? = end(refs.first, 0)?.relationship.storage else { return false }
        return try RelationshipReader(handle: handle, snapshot: snapshot).link(link, refs.first, refs.second) != nil
    }

    /// What a link refers to; nil for a row that is not one.
    package static func refs(_ row: Row) throws(StoreError) -> LinkRefs? {
        guard let first = try ref(row, 0), let second = try ref(row, 1) else { return nil }
        return LinkRefs(first: first, second: second)
    }

    /// What a link refers to at one side.
    private static func ref(_ row: Row, _ side: Int) throws(StoreError) -> ObjectRef? {
        let column = try row.block.column(side)
        return column.isNull(row.index) ? nil : column.reference(row.index)
    }
}
