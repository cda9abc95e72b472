import StrataObjectStore
import SystemPackage

@testable import StrataLog

/// Things with a number, a text and another thing that they belong to; in three versions.
enum ShipSchema {
    static let thing: UInt16 = 1
    static let note: UInt16 = 2
    static let postings: UInt16 = 3

    static let first = Schema(entities: [
        EntityLayout(
            id: thing, rootID: thing, name: "Thing",
            slots: [
                SlotLayout(.int64), SlotLayout(.string, preservedInHistory: true),
                SlotLayout(.reference, postingsID: postings),
            ])
    ])

    /// Another entity, and a slot behind the others.
    static let second = Schema(
        entities: [
            EntityLayout(
                id: thing, rootID: thing, name: "Thing",
                slots: first.entities[0].slots + [SlotLayout(.int32)]),
            EntityLayout(id: note, rootID: note, name: "Note", slots: [SlotLayout(.string)]),
        ], model: [1])

    /// A light migration: the slots in another order, one gone, one new.
    static let third = Schema(
        entities: [
            EntityLayout(
                id: thing, rootID: thing, name: "Thing",
                slots: [
                    SlotLayout(.string, preservedInHistory: true, lift: SlotLift(source: 1)),
                    SlotLayout(.int32, lift: SlotLift(source: nil, fill: [7, 0, 0, 0])),
                    SlotLayout(.reference, postingsID: postings, lift: SlotLift(source: 2)),
                    SlotLayout(.int64, lift: SlotLift(source: 0)),
                ]),
            EntityLayout(
                id: note, rootID: note, name: "Note", slots: [SlotLayout(.string, lift: SlotLift(source: 0))]),
        ], model: [2], isMigration: true)

    static let versions = [first, second, third]

    static func options(uuid: UInt64 = 1) -> LogOptions {
        var options = LogOptions()
        options.segmentMaximumBytes = 64 << 10
        options.preallocationMinimumBytes = 4096
        options.checkpointsInBackground = false
        options.compaction.isAutomatic = false
        options.compaction.mergesFreshRows = false
        options.newStoreUUID = StoreUUID(high: 0x4444, low: uuid)
        return options
    }

    /// A digest of everything that a store holds at its newest transaction: rows, counts, relationships.
    ///
    /// - Parameter isTimeless: As if the time of the transaction were not known.
    static func digest(_ store: LogStore, isTimeless: Bool = false) throws -> ObjectDigest {
        let snapshot = store.snapshot
        var text = "transaction \(snapshot.sequence) at \(isTimeless ? 0 : snapshot.timestampNanoseconds)\n"
        for entity in store.schema.entities {
            text += "\(entity.name): \(snapshot.count(entity: entity.id))\n"
            try snapshot.forEachRun(root: entity.id) { run throws(StoreError) in
                for index in 0..<run.count {
                    let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                    text += "\(row.ref.key) by \(row.version.sequence):"
                    for (slot, layout) in entity.slots.enumerated() {
                        text += " " + (try value(row, slot, layout.kind, store))
                    }
                    text += "\n"
                    if entity.id == thing {
                        let referrers = try snapshot.referrers(postings: postings, to: row.ref)
                        if !referrers.isEmpty { text += "  of \(referrers.map(\.key).sorted())\n" }
                    }
                }
                return true
            }
        }
        return ObjectDigest(of: Array(text.utf8))
    }

    private static func value(
        _ row: Row, _ slot: Int, _ kind: ValueKind, _ store: LogStore
    ) throws(StoreError) -> String {
        // Rows of before a slot was added do not have it.
        guard slot < row.block.slotCount else { return "-" }
        let column = try row.block.column(slot)
        if column.isNull(row.index) { return "-" }
        switch kind {
        case .int64: return "\(column.int64(row.index))"
        case .int32: return "\(column.int32(row.index))"
        case .reference: return "\(column.reference(row.index).key)"
        default:
            let bytes =
                column.isExternal(row.index)
                ? try store.read(column.external(row.index)) : [UInt8](column.bytes(row.index))
            return "\(bytes.count)/\(bytes.withUnsafeBytes { checksum($0) })"
        }
    }
}
