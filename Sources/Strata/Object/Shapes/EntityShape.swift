import Foundation
import StrataIO
import StrataLog
import StrataSupport
import Synchronization

/// Where one property lies in rows and overlays.
@usableFromInline
struct SlotInfo {
    let name: String
    let kind: SlotKind
    /// Bytes from the start of the overlay.
    let offset: Int
    /// False for transient properties, whose slots come after all others.
    let isPersistent: Bool
    /// Nil for a relationship's slot and for a hidden one.
    let attribute: NSAttributeDescription?
    /// The index of the to-one relationship that lies here, or -1.
    let relationshipIndex: Int
    /// What an inserted object has until it is set; nil for null.
    let defaultValue: Any?
    /// Keeps the order of an ordered to-many relationship whose inverse lies in this row; no property of its own.
    let isHidden: Bool
}

/// What loops over slots need of a ``SlotInfo``, without references.
struct SlotCode {
    let kind: SlotKind
    let hasDefault: Bool
    let offset: UInt32
    /// The index of the to-one relationship that lies here, or -1.
    let relationshipIndex: Int32
}

/// What a property name stands for in a shape.
enum PropertyReference {
    case slot(Int)
    case toMany(Int)
    /// Several slots under one name.
    case composite(CompositeShape)
    case fetched(NSPropertyDescription)
}

/// One entity compiled for use: which slot each property has, where its values lie, how its relationships are kept.
///
/// A slot inherited from a parent entity has the same index and offset in every subentity, because slots are laid out
/// parents first; transient ones come last and are the exception. Shapes are compiled once for each model, together,
/// and are never freed: every object points to one without retaining it. So a model that has been given to a
/// coordinator, and its entities, live as long as the process.
@usableFromInline
final class EntityShape: @unchecked Sendable {
    // Unchecked: everything is set while the model is compiled, under the registry's lock, and constant after it.

    /// Unique in the process.
    @usableFromInline let id: UInt32
    /// The position in ``ModelShapes/shapes``.
    let index: Int
    /// The index of the root entity's shape.
    let rootIndex: Int
    let name: String
    /// As URIs have it.
    let escapedName: String
    let entity: NSEntityDescription
    let parent: EntityShape?
    let depth: Int
    /// Ancestors by depth, with the shape itself last.
    private(set) var lineage: [EntityShape] = []
    private(set) var subshapes: [EntityShape] = []
    let objectClass: NSManagedObject.Type
    let isAbstract: Bool
    unowned(unsafe) let model: ModelShapes
    /// Found out when an object is first validated.
    let compiledValidation = CompiledReference<EntityValidation>()
    /// What generated code says of the class, found when key-value coding first asks.
    let classRecord = CompiledReference<ManagedClassRecord>()

    let slots: [SlotInfo]
    /// Parallel to `slots`; never freed, as the shape.
    let codes: UnsafePointer<SlotCode>
    @usableFromInline let persistentSlotCount: Int
    let groupCount: Int
    let overlayBytes: Int
    let relationships: [RelationshipShape]
    /// The same without counting references; never freed, as the shape.
    let relationshipReferences: UnsafePointer<Unmanaged<RelationshipShape>>
    let properties: [String: PropertyReference]

    /// One word of bits for every 64 slots. Never freed, as the shape.
    let referenceCounted: UnsafePointer<UInt64>
    let persistentMask: UnsafePointer<UInt64>
    let mandatory: UnsafePointer<UInt64>
    let withDefault: UnsafePointer<UInt64>
    let toOneMask: UnsafePointer<UInt64>
    /// Whether any slot has a default value.
    let hasDefaults: Bool
    /// Some of this without references; never freed, as the shape.
    let summary: UnsafePointer<ShapeSummary>
    let hasComposites: Bool
    /// Attributes computed at each save.
    let derivations: [Derivation]
    /// Fetched properties; the state of each lies behind those of the relationships.
    let fetched: [NSFetchedPropertyDescription]
    let toManyCount: Int
    let hasDenyRules: Bool
    /// Whether rows of hidden entities refer to the objects. Set when the model's shapes are linked.
    private(set) var hasLinks = false

    init(
        id: UInt32, index: Int, entity: NSEntityDescription, parent: EntityShape?, model: ModelShapes,
        objectClass: NSManagedObject.Type, layout: ShapeLayout
    ) {
        self.id = id
        self.index = index
        self.entity = entity
        self.parent = parent
        self.model = model
        self.objectClass = objectClass
        isAbstract = entity.isAbstract
        name = entity.name ?? ""
        escapedName = URIPart.escaped(name, .alphanumerics, isAllowed: URIPart.isAlphanumeric)
        depth = (parent?.depth ?? -1) + 1
        slots = layout.slots
        let codes = UnsafeMutablePointer<SlotCode>.allocate(capacity: max(1, layout.slots.count))
        for (slot, info) in layout.slots.enumerated() {
            (codes + slot).initialize(
                to: SlotCode(
                    kind: info.kind, hasDefault: info.defaultValue != nil, offset: UInt32(info.offset),
                    relationshipIndex: Int32(info.relationshipIndex)))
        }
        self.codes = UnsafePointer(codes)
        rootIndex = parent?.rootIndex ?? index
        persistentSlotCount = layout.slots.count { $0.isPersistent }
        groupCount = max(1, (layout.slots.count + 63) / 64)
        overlayBytes = layout.overlayBytes
        relationships = layout.relationships
        let references = UnsafeMutablePointer<Unmanaged<RelationshipShape>>.allocate(
            capacity: max(1, layout.relationships.count))
        for (index, relationship) in layout.relationships.enumerated() {
            (references + index).initialize(to: .passRetained(relationship))
        }
        relationshipReferences = UnsafePointer(references)
        properties = layout.properties
        let groups = groupCount
        func mask(_ condition: (SlotInfo) -> Bool) -> UnsafePointer<UInt64> {
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: groups)
            words.initialize(repeating: 0, count: groups)
            for (slot, info) in layout.slots.enumerated() where condition(info) {
                words[slot / 64] |= Overlay.bit(slot)
            }
            return UnsafePointer(words)
        }
        referenceCounted = mask { $0.kind.isReferenceCounted }
        persistentMask = mask { $0.isPersistent }
        withDefault = mask { $0.defaultValue != nil }
        hasDefaults = layout.slots.contains { $0.defaultValue != nil }
        toOneMask = mask { $0.kind == .toOne }
        mandatory = mask { info in
            if let attribute = info.attribute { return !attribute.isOptional && !attribute.isTransient }
            return info.relationshipIndex >= 0 && !layout.relationships[info.relationshipIndex].description.isOptional
        }
        let plainValidation = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: 1)
        plainValidation.initialize(to: Atomic(0))
        summary = ShapeSummary.keep(
            ShapeSummary(
                groupCount: groups, overlayBytes: layout.overlayBytes, referenceBytes: layout.referenceBytes,
                persistentSlotCount: persistentSlotCount, codes: self.codes, referenceCounted: referenceCounted,
                persistentMask: persistentMask,
                mandatory: mandatory, withDefault: withDefault, toOneMask: toOneMask, hasDefaults: hasDefaults,
                isAbstract: isAbstract, objectClass: ObjectIdentifier(objectClass),
                overrides: MethodOverrides.of(objectClass), plainValidation: plainValidation))
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
    func link() {
        lineage = (parent?.lineage ?? []) + [self]
        parent?.subshapes.append(self)
        for relationship in relationships { relationship.link(in: model, owner: self) }
        hasLinks = relationships.contains {
            if case .link = $0.storage { return true }
            return false
        }
    }

    var root: EntityShape { lineage.first ?? self }

    func isKind(of other: EntityShape) -> Bool {
        other.depth < lineage.count && lineage[other.depth] === other
    }

    /// The shape itself and everything that inherits from it.
    var family: [EntityShape] {
        var all = [self]
        for shape in subshapes { all += shape.family }
        return all
    }

    func property(_ name: String) -> PropertyReference? { properties[name] }

    /// The attribute or to-one relationship in a slot; nil for a hidden slot and for -1.
    func property(atSlot slot: Int) -> NSPropertyDescription? {
        guard slots.indices.contains(slot) else { return nil }
        let index = slots[slot].relationshipIndex
        return index >= 0 ? relationships[index].description : slots[slot].attribute
    }

    /// The relationship with this name, nil if there is none.
    func relationship(_ name: String) -> RelationshipShape? {
        switch properties[name] {
        case .slot(let slot)?:
            let index = slots[slot].relationshipIndex
            return index >= 0 ? relationships[index] : nil
        case .toMany(let index)?: return relationships[index]
        default: return nil
        }
    }
}

/// How a relationship's values are kept.
enum RelationshipStorage {
    /// A reference in a slot of the row.
    case slot(Int)
    /// The objects whose slot (the inverse's) refers to this one: postings.
    case inverse(slot: Int)
    /// Rows of a hidden entity with two references; `side` is the one that refers to the owner.
    case link(LinkShape, side: Int)
}

/// One relationship of one shape, compiled. A relationship has the same index in every subentity.
final class RelationshipShape {
    let index: Int
    let name: String
    let description: NSRelationshipDescription
    let isToMany: Bool
    let isOrdered: Bool
    let deleteRule: NSDeleteRule
    /// The entity that declares the relationship, whose name the stored numbers go by.
    let declaringName: String
    var storage: RelationshipStorage
    /// The slot that holds a to-one relationship; -1 for a to-many.
    let slot: Int
    private(set) unowned(unsafe) var destination: EntityShape!
    /// The relationship at the other end, as the destination entity has it.
    private(set) var inverse: RelationshipShape?
    /// For an ordered to-many with a to-one inverse: the hidden slot of the destination's row that keeps the position.
    private(set) var positionSlot: Int?
    /// The relationship is its own inverse.
    private(set) var isSymmetric = false
    /// The index of an inverse that is an unordered to-many, -1 if the inverse is none; and the shape that the
    /// destination's objects mostly have. Known without references.
    private(set) var setInverseIndex = -1
    private(set) var destinationID: UInt32 = 0

    init(
        index: Int, description: NSRelationshipDescription, declaringName: String, storage: RelationshipStorage
    ) {
        self.index = index
        self.description = description
        self.declaringName = declaringName
        self.storage = storage
        if case .slot(let slot) = storage, !description.isToMany {
            self.slot = slot
        } else {
            slot = -1
        }
        name = description.name
        isToMany = description.isToMany
        isOrdered = description.isOrdered
        deleteRule = description.deleteRule
    }

    func link(in model: ModelShapes, owner: EntityShape) {
        guard let destinationName = description.destinationEntity?.name, let shape = model.byName[destinationName]
        else {
            programmerError(
                "\(owner.name).\(name)", "the relationship has no destination entity in the model",
                "Set its destinationEntity before a coordinator uses the model")
        }
        destination = shape
        destinationID = shape.id
        if let other = description.inverseRelationship {
            inverse = shape.relationship(other.name)
            isSymmetric = inverse?.declaringName == declaringName && inverse?.name == name
            if let inverse, inverse.isToMany, !inverse.isOrdered { setInverseIndex = inverse.index }
        }
        guard isToMany else { return }
        if let inverse, !inverse.isToMany {
            storage = .inverse(slot: inverse.slot)
            positionSlot =
                isOrdered ? shape.slots.firstIndex { $0.name == ShapeLayout.positionName(inverse.name) } : nil
        } else {
            storage = model.linkStorage(for: self)
        }
    }
}

/// The hidden entity that keeps a relationship which is to-many at both ends, or has no inverse.
///
/// Slot 0 refers to the owner of the relationship that gave the entity its name, slot 1 to the other end; slots 2 and 3
/// hold the position in either's order.
final class LinkShape {
    let index: Int
    let name: String

    init(index: Int, name: String) {
        self.index = index
        self.name = name
    }
}
