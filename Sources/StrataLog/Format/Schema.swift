internal import StrataSupport

/// The kind of value in a slot. Raw values are part of the file format.
public enum ValueKind: UInt8, Sendable, CaseIterable {
    /// True or false.
    case bool = 1
    /// A signed integer of 16 bits.
    case int16 = 2
    /// A signed integer of 32 bits.
    case int32 = 3
    /// A signed integer of 64 bits.
    case int64 = 4
    /// A Float.
    case float = 5
    /// A Double.
    case double = 6
    /// Bytes of the object graph's choosing (variable width).
    case decimal = 7
    /// UTF-8.
    case string = 8
    /// Bytes, as they are.
    case data = 9
    /// Seconds since 2001-01-01 00:00:00 UTC, as a Double.
    case date = 10
    /// 16 bytes.
    case uuid = 11
    /// UTF-8.
    case uri = 12
    /// Bytes that a value transformer made.
    case transformable = 13
    /// An ``ObjectRef``.
    case reference = 14

    /// Bytes of one decoded value, or 0 for kinds of variable width.
    @inlinable
    public var fixedWidth: Int {
        switch self {
        case .bool: 1
        case .int16: 2
        case .int32, .float: 4
        case .int64, .double, .date, .reference: 8
        case .uuid: 16
        case .decimal, .string, .data, .uri, .transformable: 0
        }
    }
}

/// One slot of an entity's rows.
public struct SlotLayout: Hashable, Sendable {
    /// What the slot holds.
    public var kind: ValueKind
    /// For references: under which number the log keeps the inverse (the referring objects of each target) as
    /// postings; 0 for none. Subentities that inherit a relationship share its number.
    public var postingsID: UInt16
    /// The value survives in the history when the object is deleted.
    public var preservedInHistory: Bool
    /// How rows of the version before get the slot's value; counts in a ``Schema/isMigration`` only.
    public var lift: SlotLift

    /// A slot of a kind.
    ///
    /// - Precondition: only references have a `postingsID`.
    public init(
        _ kind: ValueKind, postingsID: UInt16 = 0, preservedInHistory: Bool = false, lift: SlotLift = SlotLift()
    ) {
        guard postingsID == 0 || kind == .reference else {
            programmerError("Schema", "a slot of kind \(kind) was given postings", "Give postings to references only")
        }
        self.kind = kind
        self.postingsID = postingsID
        self.preservedInHistory = preservedInHistory
        self.lift = lift
    }
}

/// Where a slot's value comes from in rows that an earlier version of the schema wrote.
public struct SlotLift: Hashable, Sendable {
    /// Longer values cannot stand in for what rows do not have.
    public static let fillMaximumByteCount = 1 << 10

    /// The slot in the newest earlier version that has the entity; nil if the rows have no such value.
    public var source: Int?
    /// The stored form of what takes the place of null; nil leaves null.
    public var fill: [UInt8]?

    /// A value from a slot, with what takes the place of null.
    ///
    /// - Precondition: `fill` is at most ``fillMaximumByteCount`` long.
    public init(source: Int? = nil, fill: [UInt8]? = nil) {
        guard fill?.count ?? 0 <= Self.fillMaximumByteCount else {
            programmerError("SlotLift", "a value of \(fill?.count ?? 0) bytes fills rows", "Rewrite the rows instead")
        }
        self.source = source
        self.fill = fill
    }
}

/// The shape of one entity's rows. Slots include those inherited from parent entities.
public struct EntityLayout: Hashable, Sendable {
    /// 1 and up, stable for the life of the store.
    public var id: UInt16
    /// The entity whose key space this one shares: itself for a root entity.
    public var rootID: UInt16
    /// For messages only.
    public var name: String
    /// At most ``Schema/maximumSlots``; a row's values go by their positions here.
    public var slots: [SlotLayout]

    /// A layout with these members; whether they go together is checked when a store takes the schema.
    public init(id: UInt16, rootID: UInt16, name: String, slots: [SlotLayout]) {
        self.id = id
        self.rootID = rootID
        self.name = name
        self.slots = slots
    }
}

/// One version of the shape of a store's rows, with the model it came from.
public struct Schema: Hashable, Sendable {
    /// How many slots an entity can have.
    public static let maximumSlots = 4_000

    /// Sorted by ``EntityLayout/id``.
    public var entities: [EntityLayout]
    /// The object graph's own description of the model; the engine only keeps it.
    public var model: [UInt8]
    /// Whether the slots say where their values lie in rows of earlier versions (``SlotLayout/lift``), and entities
    /// that are not here are gone with their rows. Otherwise a version may only add entities, and slots behind those
    /// there are.
    public var isMigration: Bool

    /// A schema of these entities, with the bytes of the model that it was made of.
    public init(entities: [EntityLayout], model: [UInt8] = [], isMigration: Bool = false) {
        self.entities = entities.sorted { $0.id < $1.id }
        self.model = model
        self.isMigration = isMigration
    }

    /// The same shape without what it came from: the first version of a new store.
    public var standalone: Schema {
        var copy = self
        copy.isMigration = false
        for entity in copy.entities.indices {
            for slot in copy.entities[entity].slots.indices { copy.entities[entity].slots[slot].lift = SlotLift() }
        }
        return copy
    }

    /// The layout of the entity with this number; nil if there is none.
    ///
    /// - Complexity: O(log n) in the number of entities.
    public func entity(_ id: UInt16) -> EntityLayout? {
        var low = 0
        var high = entities.count
        while low < high {
            let middle = (low + high) / 2
            if entities[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entities.count && entities[low].id == id ? entities[low] : nil
    }
}
