import Foundation
import StrataLog

/// Where a store keeps the properties of a model's entities: for what moves whole stores row by row, past objects.
package struct RowLayouts {
    /// One slot of an entity's rows.
    package struct Slot {
        /// What the slot holds, as the object graph has it.
        package enum Kind {
            case bool, int16, int32, int64, float, double, date, uuid, string, data, decimal, uri, transformable, toOne
            /// The place of the object among those of an ordered to-many relationship, whose inverse is the slot
            /// before.
            case position
        }

        /// The name of the property; of a composite's element the path; of a position the name of the to-one
        /// relationship whose inverse is ordered.
        package let name: String
        package let kind: Kind
        /// Nil for relationships and positions.
        package let attribute: NSAttributeDescription?
        /// The to-one relationship that lies here, or whose position does.
        package let relationship: NSRelationshipDescription?
    }

    /// One entity's rows.
    package struct Rows {
        package let entity: NSEntityDescription
        package let name: String
        /// The numbers of the entity and its root in the store.
        package let number: UInt16
        package let root: UInt16
        package let slots: [Slot]
    }

    /// Rows that hold the links of a relationship which is to-many at both ends, or has no inverse: two references and
    /// the positions of each in the order of the other.
    package struct Links {
        package let number: UInt16
        /// The relationship whose owner is the first reference.
        package let relationship: NSRelationshipDescription
        package let ownerName: String
        /// The relationship at the other end, which may be the same.
        package let inverse: NSRelationshipDescription?
    }

    /// In the order of their names.
    package let rows: [Rows]
    package let links: [Links]

    package init(_ shapes: ModelShapes, _ map: StoreMap) {
        rows = shapes.shapes.filter { map.holds($0) }.sorted { $0.name < $1.name }.map { shape in
            Rows(
                entity: shape.entity, name: shape.name, number: map.numbers[shape.index],
                root: map.root(shape), slots: Self.slots(shape))
        }
        var found: [Int: Links] = [:]
        for shape in shapes.shapes where map.holds(shape) {
            for relationship in shape.relationships where relationship.declaringName == shape.name {
                guard case .link(let link, side: 0) = relationship.storage, found[link.index] == nil else { continue }
                found[link.index] = Links(
                    number: map.linkNumber(link), relationship: relationship.description, ownerName: shape.name,
                    inverse: relationship.inverse?.description)
            }
        }
        links = found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The rows of an entity.
    package func rows(named name: String) -> Rows? { rows.first { $0.name == name } }

    private static func slots(_ shape: EntityShape) -> [Slot] {
        shape.slots.prefix(shape.persistentSlotCount).enumerated().map { index, info in
            if info.isHidden {
                // The position follows its to-one relationship.
                let relationship = shape.relationship(shape.slots[index - 1].name)
                return Slot(
                    name: shape.slots[index - 1].name, kind: .position, attribute: nil,
                    relationship: relationship?.description)
            }
            let relationship = info.relationshipIndex >= 0 ? shape.relationships[info.relationshipIndex] : nil
            return Slot(
                name: info.name, kind: kind(info.kind), attribute: info.attribute,
                relationship: relationship?.description)
        }
    }

    private static func kind(_ kind: SlotKind) -> Slot.Kind {
        switch kind {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .date: .date
        case .uuid: .uuid
        case .string: .string
        case .data: .data
        case .decimal: .decimal
        case .uri: .uri
        case .transformable: .transformable
        case .toOne: .toOne
        }
    }
}

/// Decimal numbers as rows keep them.
package enum StoredDecimal {
    package static func bytes(_ value: Decimal) -> [UInt8] { DecimalCoding.encode(value) }

    package static func value(_ bytes: UnsafeRawBufferPointer) -> Decimal { DecimalCoding.decode(bytes) }
}
