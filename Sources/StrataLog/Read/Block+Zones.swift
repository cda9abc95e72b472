/// The least and greatest values of a column of one block, nulls aside.
public enum ZoneRange: Hashable, Sendable {
    /// Bools (0 and 1), integers, and references by bit pattern.
    case integers(min: Int64, max: Int64)
    /// Floats, doubles and dates. There is no zone when a value is not a number.
    case reals(min: Double, max: Double)

    /// Of the values of a column; nil where there is none.
    init?(_ column: ColumnView) {
        switch column.kind {
        case .bool: self.init(column) { column.bool($0) ? 1 : 0 }
        case .int16: self.init(column) { Int64(column.int16($0)) }
        case .int32: self.init(column) { Int64(column.int32($0)) }
        case .int64: self.init(column) { column.int64($0) }
        case .reference: self.init(column) { Int64(bitPattern: column.reference($0).rawValue) }
        case .float: self.init(reals: column) { Double(column.float($0)) }
        case .double, .date: self.init(reals: column) { column.double($0) }
        case .decimal, .string, .data, .uri, .transformable, .uuid: return nil
        }
    }

    private init?(_ column: ColumnView, _ value: (Int) -> Int64) {
        var range: (min: Int64, max: Int64)?
        for row in 0..<column.rowCount where !column.isNull(row) {
            let value = value(row)
            range = range.map { (Swift.min($0.min, value), Swift.max($0.max, value)) } ?? (value, value)
        }
        guard let range else { return nil }
        self = .integers(min: range.min, max: range.max)
    }

    private init?(reals column: ColumnView, _ value: (Int) -> Double) {
        var range: (min: Double, max: Double)?
        for row in 0..<column.rowCount where !column.isNull(row) {
            let value = value(row)
            if value.isNaN { return nil }
            range = range.map { (Swift.min($0.min, value), Swift.max($0.max, value)) } ?? (value, value)
        }
        guard let range else { return nil }
        self = .reals(min: range.min, max: range.max)
    }
}

extension Block {
    /// The least and greatest values of a fixed-width slot, nulls aside. Nil when the block has none for it: variable
    /// kinds, UUIDs, blocks of few rows, columns that hold a NaN or only nulls. Decodes nothing.
    ///
    /// - Precondition: 0 <= slot < ``slotCount``.
    public func zone(_ slot: Int) -> ZoneRange? {
        precondition(slot >= 0 && slot < slotCount, "slot out of range")
        if !zones.isEmpty { return zones[slot] }
        guard !header.flags.contains(.plain), let stored = storedSlot(slot),
            let descriptor = storedDescriptor(stored), plan?.fills[slot] == nil || descriptor.nullCount == 0,
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
        if header.flags.contains(.plain) { return nil }
        if plan?.fills[slot] != nil { return 0 }
        return storedSlot(slot).map { storedDescriptor($0)?.nullCount } ?? rowCount
    }
}
