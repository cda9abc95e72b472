public import BenchSupport
import DataSet
import StrataLog

extension PeopleLog {
    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        let snapshot = store.snapshot
        var sum: UInt64 = 0
        for id in ids {
            guard let row = try snapshot.row(Self.person(id)) else { throw BenchFailure("person \(id) is missing") }
            switch manner {
            case .twoFields: sum &+= try Self.twoFields(row.block, row.index)
            case .allFields: sum &+= try Self.allFields(row.block, row.index)
            case .strings: sum &+= try Self.strings(row.block, row.index)
            }
        }
        return sum
    }

    public func readSequentially() throws -> UInt64? {
        var sum: UInt64 = 0
        try forEachBlock { block, rows in
            for row in rows { sum &+= try Self.allFields(block, row) }
        }
        return sum
    }

    /// Looks up where every row lies, reading none of them.
    public func locateAll(_ count: Int) throws -> Int {
        let snapshot = store.snapshot
        var found = 0
        for id in 1...UInt64(count) where try !snapshot.locate(Self.person(id)).isAbsent { found += 1 }
        return found
    }

    public func readPages(_ starts: [PageStart], idsOnly: Bool) throws -> UInt64 {
        var sum: UInt64 = 0
        for start in starts {
            let prefix = withUnsafeBytes(of: start.age) { OrderedKey.component($0, .int16) }
            var range = OrderedRange(prefix: prefix)
            if var name = start.name {
                range.lower = prefix + name.withUTF8 { OrderedKey.component(UnsafeRawBufferPointer($0), .string) }
            }
            let snapshot = store.snapshot
            var persons: [ObjectRef] = []
            _ = try snapshot.orderedIndexes[0].forEach(in: range) {
                persons.append($0)
                return persons.count < Workload.pageCount
            }
            if idsOnly {
                sum += UInt64(persons.count)
                continue
            }
            for person in persons {
                guard let row = try snapshot.row(person) else { throw BenchFailure("\(person) is missing") }
                sum &+= try Self.strings(row.block, row.index)
            }
        }
        return sum
    }

    /// The persons are found through the postings.
    public func traverse(department: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64) {
        let target = ObjectRef(entity: PeopleSchema.department, key: UInt64(department))
        let snapshot = store.snapshot
        let persons = try snapshot.referrers(postings: PeopleSchema.persons, to: target)
        var sum: UInt64 = 0
        var unused: UInt64 = 0
        for person in persons {
            guard let row = try snapshot.row(person) else { throw BenchFailure("\(person) is missing") }
            if decodesAll { unused &+= try Self.strings(row.block, row.index) }
            sum &+= nameDigest(try row.block.column(PeopleSchema.Slot.name).bytes(row.index))
        }
        // The digest of all fields is thrown away, but the compiler must not know.
        return (persons.count, unused == .max ? 0 : sum)
    }

    func forEachBlock(_ body: (Block, Range<Int>) throws -> Void) throws {
        var block: Block?
        var failure: (any Error)?
        try store.snapshot.forEachRun(root: PeopleSchema.person) { run throws(StoreError) in
            let current: Block
            if let block, block.location == run.location.block {
                current = block
            } else {
                current = try store.block(at: run.location.block)
                block = current
            }
            do {
                try body(current, run.location.row..<run.location.row + run.count)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    @inline(__always)
    private static func twoFields(_ block: Block, _ row: Int) throws(StoreError) -> UInt64 {
        let score = try block.column(PeopleSchema.Slot.score).double(row)
        return UInt64(score) &+ nameDigest(try block.column(PeopleSchema.Slot.name).bytes(row))
    }

    @inline(__always)
    private static func allFields(_ block: Block, _ row: Int) throws(StoreError) -> UInt64 {
        digest(
            age: try block.column(PeopleSchema.Slot.age).int16(row),
            department: try block.column(PeopleSchema.Slot.department).reference(row).key,
            score: try block.column(PeopleSchema.Slot.score).double(row),
            created: try block.column(PeopleSchema.Slot.created).double(row) + PeopleSchema.secondsFrom1970To2001,
            active: try block.column(PeopleSchema.Slot.active).bool(row),
            name: try block.column(PeopleSchema.Slot.name).bytes(row),
            email: try block.column(PeopleSchema.Slot.email).bytes(row),
            bio: try block.column(PeopleSchema.Slot.bio).bytes(row))
    }

    @inline(__always)
    private static func strings(_ block: Block, _ row: Int) throws(StoreError) -> UInt64 {
        digest(
            age: try block.column(PeopleSchema.Slot.age).int16(row),
            department: try block.column(PeopleSchema.Slot.department).reference(row).key,
            score: try block.column(PeopleSchema.Slot.score).double(row),
            created: try block.column(PeopleSchema.Slot.created).double(row) + PeopleSchema.secondsFrom1970To2001,
            active: try block.column(PeopleSchema.Slot.active).bool(row),
            name: String(decoding: try block.column(PeopleSchema.Slot.name).bytes(row), as: UTF8.self),
            email: String(decoding: try block.column(PeopleSchema.Slot.email).bytes(row), as: UTF8.self),
            bio: String(decoding: try block.column(PeopleSchema.Slot.bio).bytes(row), as: UTF8.self))
    }
}
