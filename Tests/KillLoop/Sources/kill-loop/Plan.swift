import StrataLog

/// What each transaction does, as a function of its number: so that whoever looks knows what has to be there.
enum Plan {
    static let schema = Schema(entities: [
        EntityLayout(
            id: 1, rootID: 1, name: "Thing",
            slots: [
                SlotLayout(.int64), SlotLayout(.string), SlotLayout(.reference, postingsID: 3), SlotLayout(.data),
            ])
    ])

    static let entity: UInt16 = 1
    static let postings: UInt16 = 3

    struct Steps: Equatable {
        var inserts: Int
        var updates: Int
        var deletions: Int
    }

    static func options(_ access: LogOptions.Access = .readWrite) -> LogOptions {
        var options = LogOptions()
        options.access = access
        // Small, so that kills hit new segments and checkpoints often.
        options.segmentMaximumBytes = 128 << 10
        options.preallocationMinimumBytes = 16 << 10
        options.checkpointTailBytes = 96 << 10
        options.cacheMaximumBytes = 4 << 20
        return options
    }

    static func mix(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// - Parameter live: objects before the transaction.
    static func steps(sequence: UInt64, live: Int) -> Steps {
        let random = mix(sequence)
        let inserts = random % 31 == 0 ? 300 : Int((random >> 8) % 6) + 1
        let deletions = live > 400 ? Int((random >> 16) % 12) : 0
        let updates = min(live - deletions, Int((random >> 24) % 5))
        return Steps(inserts: inserts, updates: max(updates, 0), deletions: deletions)
    }

    static func text(key: UInt64, sequence: UInt64) -> String {
        let word = String(mix(key &* 31 &+ sequence), radix: 36)
        return String(repeating: word, count: Int(mix(key ^ sequence) % 9))
    }

    static func target(key: UInt64, sequence: UInt64) -> ObjectRef {
        ObjectRef(entity: entity, key: mix(key &+ sequence) % 5 + 1)
    }

    /// One row in a few hundred has a value that is stored by itself.
    static func data(key: UInt64, sequence: UInt64) -> [UInt8]? {
        guard mix(key &* sequence) % 400 == 0 else { return nil }
        return [UInt8](repeating: UInt8(truncatingIfNeeded: key &+ sequence), count: 70_000)
    }

    static func write(key: UInt64, sequence: UInt64, to writer: EntityWriter) {
        writer.set(0, Int64(sequence))
        writer.set(1, text(key: key, sequence: sequence))
        writer.set(2, target(key: key, sequence: sequence))
        if let data = data(key: key, sequence: sequence) { data.withUnsafeBytes { writer.set(3, bytes: $0) } }
        writer.endRow()
    }
}
