import Synchronization

/// What loops over objects need of an ``EntityShape``, in plain memory: reading it counts no references. Never freed,
/// as the shape.
@usableFromInline
struct ShapeSummary {
    let groupCount: Int
    let overlayBytes: Int
    /// How much of an overlay the references take, which come first.
    let referenceBytes: Int
    let persistentSlotCount: Int
    let codes: UnsafePointer<SlotCode>
    /// One word of bits for every 64 slots, as in the shape.
    let referenceCounted: UnsafePointer<UInt64>
    let persistentMask: UnsafePointer<UInt64>
    let mandatory: UnsafePointer<UInt64>
    let withDefault: UnsafePointer<UInt64>
    let toOneMask: UnsafePointer<UInt64>
    let hasDefaults: Bool
    let isAbstract: Bool
    /// The class that the entity names, as a pointer, and what it overrides.
    let objectClass: ObjectIdentifier
    let overrides: MethodOverrides
    /// Whether validating asks for nothing but values where they are mandatory: 0 until it is found out, 1 yes, 2 no.
    let plainValidation: UnsafeMutablePointer<Atomic<UInt8>>

    /// Puts a summary into memory that is never freed.
    static func keep(_ summary: ShapeSummary) -> UnsafePointer<ShapeSummary> {
        let address = UnsafeMutablePointer<ShapeSummary>.allocate(capacity: 1)
        address.initialize(to: summary)
        return UnsafePointer(address)
    }
}
