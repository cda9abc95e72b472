import Synchronization

/// What loops over objects need of an ``EntityShape``, in plain memory: reading it counts no references. Never freed,
/// as the shape.
@usableFromInline
package struct ShapeSummary {
    package let groupCount: Int
    package let overlayBytes: Int
    /// How much of an overlay the references take, which come first.
    package let referenceBytes: Int
    package let persistentSlotCount: Int
    package let codes: UnsafePointer<SlotCode>
    package let masks: SlotMasks
    package let hasDefaults: Bool
    package let isAbstract: Bool
    /// The class that the entity names, as a pointer, and what it overrides; nil for objects that stand for no entity.
    package let objectClass: ObjectIdentifier?
    package let overrides: MethodOverrides
    /// Whether validating asks for nothing but values where they are mandatory: 0 until it is found out, 1 yes, 2 no.
    package let plainValidation: UnsafeMutablePointer<Atomic<UInt8>>

    package init(_ layout: ShapeLayout, isAbstract: Bool, _ entityClass: EntityClass) {
        groupCount = layout.groupCount
        overlayBytes = layout.overlayBytes
        referenceBytes = layout.referenceBytes
        persistentSlotCount = layout.slots.count { $0.isPersistent }
        codes = SlotCode.keep(layout.slots)
        masks = SlotMasks(layout)
        hasDefaults = layout.slots.contains { $0.defaultValue != nil }
        self.isAbstract = isAbstract
        objectClass = entityClass.type.map { ObjectIdentifier($0) }
        overrides = entityClass.overrides
        let plainValidation = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: 1)
        plainValidation.initialize(to: Atomic(0))
        self.plainValidation = plainValidation
    }

    /// Puts a summary into memory that is never freed.
    package static func keep(_ summary: ShapeSummary) -> UnsafePointer<ShapeSummary> {
        let address = UnsafeMutablePointer<ShapeSummary>.allocate(capacity: 1)
        address.initialize(to: summary)
        return UnsafePointer(address)
    }
}
