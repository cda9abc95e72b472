internal import StrataSupport

/// What an ordered index is over.
public struct OrderedIndexDefinition: Hashable, Sendable {
    /// One slot by whose values the index is ordered.
    public struct Element: Hashable, Sendable {
        /// Its position in the entities' layouts.
        public var slot: Int
        /// What the slot holds.
        public var kind: ValueKind
        /// Whether greater values come first.
        public var isDescending: Bool

        /// An element over a slot.
        ///
        /// - Precondition: values of the kind have an order (``OrderedKey/isOrdered(_:)``).
        public init(slot: Int, kind: ValueKind, isDescending: Bool = false) {
            guard OrderedKey.isOrdered(kind) else {
                programmerError(
                    "OrderedIndexDefinition", "values of the kind \(kind) have no order", "Index slots of other kinds")
            }
            self.slot = slot
            self.kind = kind
            self.isDescending = isDescending
        }
    }

    /// Where the entities' keys are counted.
    public var root: UInt16
    /// The entities whose rows are in the index.
    public var entities: [UInt16]
    /// The most significant first; the same slots in all of the entities.
    public var elements: [Element]
    /// Which rows are in the index; nil for all.
    public var filter: OrderedFilter?

    /// An index over the rows of these entities.
    ///
    /// - Precondition: there is at least one element.
    public init(root: UInt16, entities: [UInt16], elements: [Element], filter: OrderedFilter? = nil) {
        guard !elements.isEmpty else { programmerError("OrderedIndexDefinition", "it has no elements", "Name one") }
        self.root = root
        self.entities = entities.sorted()
        self.elements = elements
        self.filter = filter
    }

    /// The slots on which a row's entry depends.
    var slots: SlotSet { SlotSet(elements.map(\.slot) + (filter?.slots ?? [])) }

    // MARK: Coding

    /// Equal for equal definitions.
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(root)
        writer.append(UInt32(entities.count))
        for entity in entities { writer.append(entity) }
        writer.append(UInt32(elements.count))
        for element in elements {
            writer.append(UInt16(element.slot))
            writer.append(element.kind.rawValue)
            writer.append(UInt8(element.isDescending ? 1 : 0))
        }
        writer.append(UInt8(filter == nil ? 0 : 1))
        filter?.append(to: &writer)
        return writer.bytes
    }

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        root = try reader.read()
        entities = []
        for _ in 0..<(try reader.readCount(minimumByteCount: 2)) { entities.append(try reader.read()) }
        elements = []
        for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
            let slot = Int(try reader.read(UInt16.self))
            guard slot < Schema.maximumSlots, let kind = ValueKind(rawValue: try reader.read()),
                OrderedKey.isOrdered(kind)
            else { throw reader.malformed("an index has an impossible element") }
            elements.append(Element(slot: slot, kind: kind, isDescending: try reader.read(UInt8.self) != 0))
        }
        guard !elements.isEmpty else { throw reader.malformed("an index has no elements") }
        filter = try reader.read(UInt8.self) == 0 ? nil : OrderedFilter(from: &reader)
    }

    /// A number that is the same for equal definitions, and hardly for others.
    public var digest: UInt64 { FNV.digest(encoded()) }
}
