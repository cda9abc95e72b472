/// Where one property lies in rows and overlays.
@usableFromInline
package struct SlotInfo {
    package let name: String
    package let kind: SlotKind
    /// Bytes from the start of the overlay.
    package let offset: Int
    /// False for transient properties, whose slots come after all others.
    package let isPersistent: Bool
    /// Nil for a relationship's slot and for a hidden one.
    package let attribute: NSAttributeDescription?
    /// The index of the to-one relationship that lies here, or -1.
    package let relationshipIndex: Int
    /// What an inserted object has until it is set; nil for null.
    package let defaultValue: Any?
    /// Keeps the order of an ordered to-many relationship whose inverse lies in this row; no property of its own.
    package let isHidden: Bool
}

/// What loops over slots need of a ``SlotInfo``, without references.
package struct SlotCode {
    package let kind: SlotKind
    package let hasDefault: Bool
    package let offset: UInt32
    /// The index of the to-one relationship that lies here, or -1.
    package let relationshipIndex: Int32

    /// The codes of some slots, in memory that is never freed.
    package static func keep(_ slots: [SlotInfo]) -> UnsafePointer<SlotCode> {
        let codes = UnsafeMutablePointer<SlotCode>.allocate(capacity: max(1, slots.count))
        for (slot, info) in slots.enumerated() {
            (codes + slot).initialize(
                to: SlotCode(
                    kind: info.kind, hasDefault: info.defaultValue != nil, offset: UInt32(info.offset),
                    relationshipIndex: Int32(info.relationshipIndex)))
        }
        return UnsafePointer(codes)
    }
}
