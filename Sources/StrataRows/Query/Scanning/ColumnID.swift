import StrataLog

/// A column of the rows of a hierarchy. What an entity inherits has one slot in the whole hierarchy; slots behind those
/// of the parent mean different things in siblings.
struct ColumnID: Hashable, Sendable {
    /// The index of the shape that declares what lies in the slot; for rows of links, which have no shape, `.max`.
    let owner: UInt16
    let slot: UInt16

    /// - Parameter shape: an entity that has the slot; nil for the rows of a link.
    init(_ slot: Int, of shape: EntityShape?) {
        self.slot = UInt16(slot)
        owner = shape.map { UInt16(Self.owner(slot, $0).index) } ?? .max
    }

    private static func owner(_ slot: Int, _ shape: EntityShape) -> EntityShape {
        var owner = shape
        while let parent = owner.parent, slot < parent.persistentSlotCount { owner = parent }
        return owner
    }
}

/// What is known of a column without reading a row.
struct ColumnLayout {
    let id: ColumnID
    let kind: ValueKind
    /// The entities whose rows have the column, which is null in others; nil for all.
    private let holders: EntityNumbers?

    var slot: Int { Int(id.slot) }

    init(_ id: ColumnID, _ handle: StoreHandle) {
        self.id = id
        guard id.owner != .max else {
            kind = .reference
            holders = nil
            return
        }
        let shape = handle.shapes.shapes[Int(id.owner)]
        kind = shape.slots[Int(id.slot)].kind.valueKind
        holders = EntityNumbers(shape.family, in: handle.map)
    }

    func isHeld(by entity: UInt16) -> Bool { holders?.contains(entity) ?? true }
}
