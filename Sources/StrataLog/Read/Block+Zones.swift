/// The least and greatest values of a column of one block, nulls aside.
public enum ZoneRange: Hashable, Sendable {
    /// Bools (0 and 1), integers, and references by bit pattern.
    case integers(min: Int64, max: Int64)
    /// Floats, doubles and dates. There is no zone when a value is not a number.
    case reals(min: Double, max: Double)
}

extension Block {
    /// The least and greatest values of a fixed-width slot, nulls aside. Nil when the block has none for it: variable kinds, UUIDs,
    /// blocks of few rows, columns that hold a NaN or only nulls. Decodes nothing.
    ///
    /// - Precondition: 0 <= slot < ``slotCount``.
    public func zone(_ slot: Int) -> ZoneRange? {
        precondition(slot >= 0 && slot < slotCount, "slot out of range")
        guard !header.flags.contains(.plain), let descriptor = storedDescriptor(slot),
            descriptor.flags.contains(.zone), !descriptor.flags.contains(.allNull)
        else { return nil }
        let least = Int64(bitPattern: descriptor.base)
        let greatest = Int64(bitPattern: descriptor.maximum)
        switch descriptor.kind {
        case .bool, .int16, .int32, .int64, .reference:
            return .integers(min: least, max: greatest)
        case .float, .double, .date:
            switch descriptor.encoding {
            case .integral:
                return .reals(min: Double(least), max: Double(greatest))
            case .constant where descriptor.kind == .float:
                let value = Double(Float(bitPattern: UInt32(truncatingIfNeeded: descriptor.base)))
                return .reals(min: value, max: value)
            default:
                return .reals(min: Double(bitPattern: descriptor.base), max: Double(bitPattern: descriptor.maximum))
            }
        case .decimal, .string, .data, .uri, .transformable, .uuid:
            return nil
        }
    }

    /// How many rows of the slot are null, if the block says so without being decoded (blocks of few rows do not).
    ///
    /// - Precondition: 0 <= slot < ``slotCount``.
    public func nullCount(_ slot: Int) -> Int? {
        precondition(slot >= 0 && slot < slotCount, "slot out of range")
        return header.flags.contains(.plain) ? nil : storedDescriptor(slot)?.nullCount
    }
}
