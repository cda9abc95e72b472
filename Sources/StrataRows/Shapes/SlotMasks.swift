/// Which slots of an entity have some property: one word of bits for every 64 slots. Never freed, as the shape.
@usableFromInline
package struct SlotMasks {
    package let referenceCounted: UnsafePointer<UInt64>
    package let persistent: UnsafePointer<UInt64>
    package let mandatory: UnsafePointer<UInt64>
    package let withDefault: UnsafePointer<UInt64>
    package let toOne: UnsafePointer<UInt64>

    init(_ layout: ShapeLayout) {
        func mask(_ condition: (SlotInfo) -> Bool) -> UnsafePointer<UInt64> {
            let groupCount = layout.groupCount
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: groupCount)
            words.initialize(repeating: 0, count: groupCount)
            for (slot, info) in layout.slots.enumerated() where condition(info) {
                words[slot / 64] |= SlotBits.bit(slot)
            }
            return UnsafePointer(words)
        }
        referenceCounted = mask { $0.kind.isReferenceCounted }
        persistent = mask { $0.isPersistent }
        withDefault = mask { $0.defaultValue != nil }
        toOne = mask { $0.kind == .toOne }
        mandatory = mask { info in
            if let attribute = info.attribute { return !attribute.isOptional && !attribute.isTransient }
            return info.relationshipIndex >= 0 && !layout.relationships[info.relationshipIndex].description.isOptional
        }
    }
}
