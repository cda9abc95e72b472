/// How words of bits stand for slots, 64 each, in masks and at the beginning of overlays.
@usableFromInline
package enum SlotBits {
    /// The bytes that an overlay has for 64 slots: four words that say which are present, null, changed, and changed
    /// in the current event.
    @inlinable package static var groupBytes: Int { 32 }

    @inlinable
    package static func bit(_ slot: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: slot & 63) }
}
