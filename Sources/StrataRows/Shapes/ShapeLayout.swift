import Foundation

/// Gives every property of an entity its slot and its place in the overlay.
package struct ShapeLayout {
    package private(set) var slots: [SlotInfo] = []
    package private(set) var relationships: [RelationshipShape] = []
    package private(set) var properties: [String: PropertyReference] = [:]
    package private(set) var overlayBytes = 0
    /// As far as the references reach.
    package private(set) var referenceBytes = 0
    /// Of 64 slots each.
    package var groupCount: Int { max(1, (slots.count + 63) / 64) }

    /// The name of the hidden slot beside a to-one whose inverse is ordered. No property name contains a space.
    package static func positionName(_ relationship: String) -> String { "position of \(relationship)" }

    /// Lays out what `entity` declares after what `parent` has.
    ///
    /// Persistent slots come first, the parent's before the entity's own, each sorted by name, so that the same model
    /// always gives the same layout.
    package init(entity: NSEntityDescription, parent: EntityShape?) {
        var persistent = parent?.slots.filter { $0.isPersistent } ?? []
        var transient = parent?.slots.filter { !$0.isPersistent } ?? []
        relationships = []
        let inheritedNames = Set(parent?.properties.keys.map { $0 } ?? [])
        for relationship in parent?.relationships ?? [] {
            // Each shape has its own, because a subentity may narrow the delete rule or what is optional.
            let description = entity.relationshipsByName[relationship.name] ?? relationship.description
            relationships.append(
                RelationshipShape(
                    index: relationship.index, description: description, declaringName: relationship.declaringName,
                    storage: relationship.storage))
        }
        for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
        where !inheritedNames.contains(name) {
            for info in Self.unplaced(name, attribute, isPersistent: !attribute.isTransient) {
                if attribute.isTransient { transient.append(info) } else { persistent.append(info) }
            }
        }
        for (name, description) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
        where !inheritedNames.contains(name) {
            let index = relationships.count
            let slot = persistent.count
            relationships.append(
                RelationshipShape(
                    index: index, description: description, declaringName: entity.name ?? "", storage: .slot(slot)))
            if description.isToMany { continue }
            persistent.append(Self.unplaced(name, .toOne, relationshipIndex: index))
            if let inverse = description.inverseRelationship, inverse.isToMany, inverse.isOrdered {
                persistent.append(Self.unplaced(Self.positionName(name), .int64, isHidden: true))
            }
        }
        let all = persistent + transient
        place(all, inOrder: Self.order(persistent, inherited: parent?.slots.count { $0.isPersistent } ?? 0), entity)
        for relationship in relationships where relationship.isToMany {
            properties[relationship.name] = .toMany(relationship.index)
        }
        for (slot, info) in slots.enumerated() where !info.isHidden { properties[info.name] = .slot(slot) }
        let numbers = Dictionary(
            slots.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        for case let (name, attribute as NSCompositeAttributeDescription) in entity.attributesByName {
            for composite in CompositeShape(name, attribute, slots: numbers).all {
                properties[composite.name] = .composite(composite)
            }
        }
        for property in entity.propertiesByName.values {
            if let fetched = property as? NSFetchedPropertyDescription { properties[fetched.name] = .fetched(fetched) }
        }
    }

    /// In which order persistent values lie: as in the parent's overlays, then those of the entity itself, references
    /// first, so that an overlay that only keeps references is short.
    private static func order(_ persistent: [SlotInfo], inherited: Int) -> [Int] {
        let own = inherited..<persistent.count
        return (0..<inherited).sorted { persistent[$0].offset < persistent[$1].offset }
            + own.filter { persistent[$0].kind == .toOne } + own.filter { persistent[$0].kind != .toOne }
    }

    /// Gives all slots their places: those that `order` names, then the others.
    private mutating func place(_ all: [SlotInfo], inOrder order: [Int], _ entity: NSEntityDescription) {
        var offsets = [Int](repeating: 0, count: all.count)
        var offset = max(1, (all.count + 63) / 64) * SlotBits.groupBytes
        referenceBytes = offset
        for slot in order + (order.count..<all.count) {
            offsets[slot] = offset
            offset += all[slot].kind.overlayBytes
            if all[slot].kind == .toOne { referenceBytes = offset }
        }
        overlayBytes = offset
        for (slot, info) in all.enumerated() {
            // A subentity may have a description of its own; an element of a composite is found by its path only.
            let attribute = info.attribute.flatMap { _ in entity.attributesByName[info.name] }
            slots.append(info.placed(at: offsets[slot], attribute: attribute ?? info.attribute))
        }
    }

    /// An attribute's slot; of a composite those of all its elements, named by their paths.
    private static func unplaced(
        _ name: String, _ attribute: NSAttributeDescription, isPersistent: Bool
    ) -> [SlotInfo] {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            return [unplaced(name, kind(of: attribute), attribute: attribute, isPersistent: isPersistent)]
        }
        return composite.elements.sorted { $0.name < $1.name }.flatMap { element in
            unplaced(name + "." + element.name, element, isPersistent: isPersistent)
        }
    }

    private static func unplaced(
        _ name: String, _ kind: SlotKind, attribute: NSAttributeDescription? = nil, isPersistent: Bool = true,
        relationshipIndex: Int = -1, isHidden: Bool = false
    ) -> SlotInfo {
        SlotInfo(
            name: name, kind: kind, offset: 0, isPersistent: isPersistent, attribute: attribute,
            relationshipIndex: relationshipIndex, defaultValue: nil, isHidden: isHidden)
    }

    private static func kind(of attribute: NSAttributeDescription) -> SlotKind {
        switch attribute.attributeType {
        case .integer16AttributeType: .int16
        case .integer32AttributeType: .int32
        case .integer64AttributeType: .int64
        case .decimalAttributeType: .decimal
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .stringAttributeType: .string
        case .booleanAttributeType: .bool
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .uri
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType: .transformable
        default: .transformable
        }
    }
}

extension SlotInfo {
    package func placed(at offset: Int, attribute: NSAttributeDescription?) -> SlotInfo {
        SlotInfo(
            name: name, kind: kind, offset: offset, isPersistent: isPersistent, attribute: attribute,
            relationshipIndex: relationshipIndex, defaultValue: attribute?.defaultValue, isHidden: isHidden)
    }
}
