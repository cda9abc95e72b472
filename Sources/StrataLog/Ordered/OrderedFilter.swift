/// Which rows are in a partial index: conditions on single slots, joined.
public indirect enum OrderedFilter: Hashable, Sendable {
    /// All of these hold; true if there are none.
    case all([OrderedFilter])
    /// One of these holds; false if there are none.
    case any([OrderedFilter])
    /// This does not hold.
    case not(OrderedFilter)
    /// The slot's component (see ``OrderedKey``) lies in one of the ranges.
    case within(slot: Int, kind: ValueKind, ranges: [OrderedRange])

    private static let depthMaximum = 32

    /// Whether a row is in the index.
    ///
    /// - Parameter component: the component of a slot, valid for the call of its argument.
    func admits(
        _ component: (Int, ValueKind, (UnsafeRawBufferPointer) -> Bool) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        switch self {
        case .all(let parts):
            for part in parts where try !part.admits(component) { return false }
            return true
        case .any(let parts):
            for part in parts where try part.admits(component) { return true }
            return false
        case .not(let part): return try !part.admits(component)
        case .within(let slot, let kind, let ranges):
            return try component(slot, kind) { bytes in ranges.contains { $0.contains(bytes) } }
        }
    }

    /// The slots that it looks at.
    var slots: [Int] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.slots)
        case .not(let part): part.slots
        case .within(let slot, _, _): [slot]
        }
    }

    func append(to writer: inout ByteWriter) {
        switch self {
        case .all(let parts), .any(let parts):
            if case .all = self { writer.append(UInt8(1)) } else { writer.append(UInt8(2)) }
            writer.append(UInt32(parts.count))
            for part in parts { part.append(to: &writer) }
        case .not(let part):
            writer.append(UInt8(3))
            part.append(to: &writer)
        case .within(let slot, let kind, let ranges):
            writer.append(UInt8(4))
            writer.append(UInt16(slot))
            writer.append(kind.rawValue)
            writer.append(UInt32(ranges.count))
            for range in ranges {
                writer.append(counted: range.lower)
                writer.append(UInt8(range.upper == nil ? 0 : 1))
                if let upper = range.upper { writer.append(counted: upper) }
            }
        }
    }

    init(from reader: inout ByteReader, depth: Int = 0) throws(MalformedBytes) {
        guard depth < Self.depthMaximum else { throw reader.malformed("a filter is nested too deeply") }
        switch try reader.read(UInt8.self) {
        case let tag where tag == 1 || tag == 2:
            var parts: [OrderedFilter] = []
            for _ in 0..<(try reader.readCount(minimumByteCount: 2)) {
                parts.append(try OrderedFilter(from: &reader, depth: depth + 1))
            }
            self = tag == 1 ? .all(parts) : .any(parts)
        case 3: self = .not(try OrderedFilter(from: &reader, depth: depth + 1))
        case 4:
            let slot = Int(try reader.read(UInt16.self))
            guard slot < Schema.maximumSlots, let kind = ValueKind(rawValue: try reader.read()) else {
                throw reader.malformed("a filter has an impossible slot")
            }
            var ranges: [OrderedRange] = []
            for _ in 0..<(try reader.readCount(minimumByteCount: 5)) {
                let lower = try reader.readCounted()
                ranges.append(
                    OrderedRange(lower: lower, upper: try reader.read(UInt8.self) == 0 ? nil : reader.readCounted()))
            }
            self = .within(slot: slot, kind: kind, ranges: ranges)
        default: throw reader.malformed("a filter has an unknown form")
        }
    }
}
