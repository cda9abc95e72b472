import BenchSupport
public import DataSet
import StrataLog

extension PeopleLog {
    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        try insert(rows)
    }

    /// Inserts rows in one transaction. The rows must come in the order of their numbers, from 1.
    public func insert(_ rows: ArraySlice<PersonRow>) throws {
        guard let first = rows.first else { return }
        let key = try store.allocateKeys(root: PeopleSchema.person, count: rows.count)
        guard key == first.id else { throw BenchFailure("key \(key) where \(first.id) was expected") }
        try commit(rows, firstKey: key)
    }

    /// Inserts one row under the next free key, whatever the row's number. Safe from any thread.
    public func insertConcurrently(_ row: PersonRow) throws {
        try commit([row], firstKey: store.allocateKeys(root: PeopleSchema.person, count: 1))
    }

    private func commit(_ rows: ArraySlice<PersonRow>, firstKey: UInt64) throws {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: PeopleSchema.person)
        var key = firstKey
        for row in rows {
            writer.beginInsert(key: key)
            writer.set(PeopleSchema.Slot.name, row.name)
            writer.set(PeopleSchema.Slot.email, row.email)
            writer.set(PeopleSchema.Slot.age, row.age)
            writer.set(PeopleSchema.Slot.score, row.score)
            writer.set(PeopleSchema.Slot.created, row.created - PeopleSchema.secondsFrom1970To2001)
            writer.set(PeopleSchema.Slot.active, row.active)
            writer.set(PeopleSchema.Slot.bio, row.bio)
            writer.set(
                PeopleSchema.Slot.department,
                ObjectRef(entity: PeopleSchema.department, key: UInt64(row.department)))
            writer.endRow()
            key += 1
        }
        _ = try store.commit(transaction)
    }

    /// Deletes rows in one transaction; each is looked up first, as the object graph does.
    public func delete(_ ids: [UInt64]) throws {
        let snapshot = store.snapshot
        let transaction = store.makeTransaction()
        for id in ids {
            guard let row = try snapshot.row(Self.person(id)) else { throw BenchFailure("person \(id) is missing") }
            try transaction.delete(row.ref, replacing: row.version)
        }
        _ = try store.commit(transaction)
    }

    /// Changes the score of rows in one transaction: each row is read, and written anew with one slot changed. The
    /// last of several changes to one row wins.
    public func updateScores(_ changes: [(id: UInt64, score: Double)]) throws {
        var scores: [UInt64: Double] = [:]
        if changes.count > 1 {
            scores.reserveCapacity(changes.count)
            for change in changes { scores[change.id] = change.score }
        }
        let snapshot = store.snapshot
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: PeopleSchema.person)
        var changed = SlotSet()
        changed.insert(PeopleSchema.Slot.score)
        for change in changes {
            // A transaction holds one new row for each object.
            var score = change.score
            if changes.count > 1 {
                guard let last = scores.removeValue(forKey: change.id) else { continue }
                score = last
            }
            guard let row = try snapshot.row(Self.person(change.id)) else {
                throw BenchFailure("person \(change.id) is missing")
            }
            try writer.beginUpdate(key: change.id, replacing: row.version, changed: changed)
            for slot in 0..<PeopleSchema.Slot.count where slot != PeopleSchema.Slot.score {
                try writer.copy(slot, from: row, slot: slot)
            }
            writer.set(PeopleSchema.Slot.score, score)
            writer.endRow()
        }
        _ = try store.commit(transaction)
    }
}
