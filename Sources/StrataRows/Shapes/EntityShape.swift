import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// One entity compiled for use: which slot each property has, where its values lie, how its relationships are kept.
///
/// A slot inherited from a parent entity has the same index and offset in every subentity, because slots are laid out
/// parents first; transient ones come last and are the exception. Shapes are compiled once for each model, together,
/// and are never freed: every object points to one without retaining it. So a model that has been given to a
/// coordinator, and its entities, live as long as the process.
@usableFromInline
package final class EntityShape: @unchecked Sendable {
    // Unchecked: everything is set while the model is compiled, under the registry's lock, and constant after it.

    /// Unique in the process.
    @usableFromInline package let id: UInt32
    /// The position in ``ModelShapes/shapes``.
    @usableFromInline package let index: Int
    /// The index of the root entity's shape.
    package let rootIndex: Int
    package let name: String
    /// As URIs have it.
    let escapedName: String
    package let entity: NSEntityDescription
    package let parent: EntityShape?
    @usableFromInline package let depth: Int
    /// Ancestors by depth, with the shape itself last.
    @exclusivity(unchecked) @usableFromInline package private(set) var lineage: [EntityShape] = []
    @exclusivity(unchecked) package private(set) var subshapes: [EntityShape] = []
    /// The class that the entity names.
    package let entityClass: EntityClass
    package let isAbstract: Bool
    package unowned(unsafe) let model: ModelShapes
    // The places are untyped, since rows do not know what is made of them.

    /// Found out when an object is first validated.
    package let compiledValidation = CompiledReference<AnyObject>()
    /// What generated code says of the class, found when key-value coding first asks.
    package let classRecord = CompiledReference<AnyObject>()

    package let slots: [SlotInfo]
    /// Parallel to `slots`; never freed, as the shape.
    package let codes: UnsafePointer<SlotCode>
    @usableFromInline package let persistentSlotCount: Int
    package let groupCount: Int
    package let overlayBytes: Int
    package let relationships: [RelationshipShape]
    /// The same without counting references; never freed, as the shape.
    package let relationshipReferences: UnsafePointer<Unmanaged<RelationshipShape>>
    package let properties: [String: PropertyReference]
    @usableFromInline let propertyTable: PropertyTable

    package let masks: SlotMasks
    /// Whether any slot has a default value.
    package let hasDefaults: Bool
    /// Some of this without references; never freed, as the shape.
    package let summary: UnsafePointer<ShapeSummary>
    package let hasComposites: Bool
    /// Attributes computed at each save.
    package let derivations: [Derivation]
    /// Fetched properties; the state of each lies behind those of the relationships.
    package let fetched: [NSFetchedPropertyDescription]
    package let toManyCount: Int
    package let hasDenyRules: Bool
    /// Whether rows of hidden entities refer to the objects. Set when the model's shapes are linked.
    @inlinable package var hasLinks: Bool { refersByLinks }
    // Other modules do not see the attribute, and would check each access: they read what stands above.
    @exclusivity(unchecked) @usableFromInline private(set) var refersByLinks = false
    /// The one-to-one relationships, of which both ends are stored. Set when the model's shapes are linked.
    @exclusivity(unchecked) package private(set) var partners: [RelationshipShape] = []
    /// The to-many relationships by which nothing may refer to a deleted object. Set when the model's shapes are
    /// linked.
    @exclusivity(unchecked) package private(set) var closedByDeletion: [RelationshipShape] = []

    package init(
        id: UInt32, index: Int, entity: NSEntityDescription, parent: EntityShape?, model: ModelShapes,
        entityClass: EntityClass, layout: ShapeLayout
    ) {
        self.id = id
        self.index = index
        self.entity = entity
        self.parent = parent
        self.model = model
        self.entityClass = entityClass
        isAbstract = entity.isAbstract
        name = entity.name ?? ""
        escapedName = URIPart.escaped(name, .alphanumerics, isAllowed: URIPart.isAlphanumeric)
        depth = (parent?.depth ?? -1) + 1
        rootIndex = parent?.rootIndex ?? index
        let kept = ShapeSummary(layout, isAbstract: isAbstract, entityClass)
        summary = ShapeSummary.keep(kept)
        slots = layout.slots
        codes = kept.codes
        masks = kept.masks
        hasDefaults = kept.hasDefaults
        persistentSlotCount = kept.persistentSlotCount
        groupCount = kept.groupCount
        overlayBytes = kept.overlayBytes
        relationships = layout.relationships
        relationshipReferences = RelationshipShape.keep(layout.relationships)
        properties = layout.properties
        propertyTable = PropertyTable(layout.properties)
        toManyCount = layout.relationships.count { $0.isToMany }
        hasDenyRules = layout.relationships.contains { $0.deleteRule == .denyDeleteRule }
        hasComposites = layout.properties.values.contains { reference in
            if case .composite = reference { return true }
            return false
        }
        derivations = layout.slots.enumerated().compactMap { slot, info in Derivation(slot, info.attribute) }
        fetched = entity.propertiesByName.values.compactMap { $0 as? NSFetchedPropertyDescription }
            .sorted { $0.name < $1.name }
    }

    /// Completes what needs all shapes of the model.
    package func link() {
        lineage = (parent?.lineage ?? []) + [self]
        parent?.subshapes.append(self)
        for relationship in relationships { relationship.link(in: model, owner: self) }
        refersByLinks = relationships.contains {
            if case .link = $0.storage { return true }
            return false
        }
        partners = relationships.filter { !$0.isToMany && $0.inverse?.isToMany == false }
        closedByDeletion = relationships.filter {
            if case .inverse = $0.storage { return $0.deleteRule != .noActionDeleteRule }
            return false
        }
    }

    @inlinable package var root: EntityShape { lineage.first ?? self }

    @inlinable
    package func isKind(of other: EntityShape) -> Bool {
        other.depth < lineage.count && lineage[other.depth] === other
    }

    /// The shape itself and everything that inherits from it.
    package var family: [EntityShape] {
        var all = [self]
        for shape in subshapes { all += shape.family }
        return all
    }

    @inlinable
    package func property(_ name: String) -> PropertyReference? { propertyTable[name] }

    /// The property of the entity in a slot: an attribute, the composite that an element is of, or a to-one
    /// relationship; nil for a hidden slot and for -1.
    package func property(atSlot slot: Int) -> NSPropertyDescription? {
        guard slots.indices.contains(slot) else { return nil }
        let index = slots[slot].relationshipIndex
        return index >= 0 ? relationships[index].description : composite(ofSlot: slot) ?? slots[slot].attribute
    }

    /// The attribute of the entity that the attribute in a slot is an element of, however deep; nil for others.
    private func composite(ofSlot slot: Int) -> NSAttributeDescription? {
        guard hasComposites, let end = slots[slot].name.firstIndex(of: ".") else { return nil }
        return entity.attributesByName[String(slots[slot].name[..<end])]
    }

    /// Whether deletions keep the value of a slot in the history: its attribute says so, or the composite it is of.
    package func isPreservedInHistory(slot: Int) -> Bool {
        guard let attribute = slots[slot].attribute else { return false }
        return attribute.preservesValueInHistoryOnDeletion
            || composite(ofSlot: slot)?.preservesValueInHistoryOnDeletion == true
    }

    /// The relationship with this name, nil if there is none.
    package func relationship(_ name: String) -> RelationshipShape? {
        switch propertyTable[name] {
        case .slot(let slot)?:
            let index = slots[slot].relationshipIndex
            return index >= 0 ? relationships[index] : nil
        case .toMany(let index)?: return relationships[index]
        default: return nil
        }
    }
}
