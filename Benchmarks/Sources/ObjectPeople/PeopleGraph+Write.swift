import BenchSupport
public import DataSet
import Foundation
import Strata

extension PeopleGraph {
    /// One save. After a save of more than one row the context is reset, as importers do.
    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        try context.performAndWait {
            // Held so that each is found by its ID once a save, not once a row.
            let departments = rows.count > 1 ? try (1...PersonRow.departmentCount).map(department) : []
            try rows.withUnsafeBufferPointer { rows in
                guard let first = rows.baseAddress else { return }
                for index in rows.indices {
                    let person = Person(context: context)
                    person.set(at: first + index)
                    let number = Int(rows[index].department)
                    person.department = departments.isEmpty ? try department(number) : departments[number - 1]
                }
            }
            try context.save()
            if rows.count > 1 { context.reset() }
        }
    }

    public func delete(_ ids: [UInt64]) throws {
        try context.performAndWait {
            for id in ids { context.delete(person(id)) }
            try context.save()
        }
    }

    public func updateScores(_ changes: [(id: UInt64, score: Double)]) throws {
        try context.performAndWait {
            for change in changes { person(change.id).score = change.score }
            try context.save()
        }
    }
}

extension Person {
    /// Sets the eight attributes.
    func set(_ row: PersonRow) {
        number = Int64(row.id)
        name = row.name
        email = row.email
        age = row.age
        score = row.score
        created = Date(timeIntervalSince1970: row.created)
        active = row.active
        bio = row.bio
    }

    /// The same from where the row lies, as other contestants take it: a copy of the row would count its strings.
    func set(at row: UnsafePointer<PersonRow>) {
        number = Int64(row.pointee.id)
        name = row.pointee.name
        email = row.pointee.email
        age = row.pointee.age
        score = row.pointee.score
        created = Date(timeIntervalSince1970: row.pointee.created)
        active = row.pointee.active
        bio = row.pointee.bio
    }
}
