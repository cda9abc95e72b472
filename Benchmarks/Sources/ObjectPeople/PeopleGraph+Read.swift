public import BenchSupport
import DataSet
import Foundation
import Strata

extension PeopleGraph {
    /// Each read makes an object, fires its fault and lets go of it; all fields go through their accessors, and the
    /// department is the object at the other end of the relationship.
    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        guard manner != .allFields else { return nil }
        return try context.performAndWait {
            if ids == [1], !knowsKeys { return try firstPerson().digest }
            // Held by an application that shows persons with their departments.
            let departments = manner == .strings ? try (1...PersonRow.departmentCount).map(department) : []
            var sum: UInt64 = 0
            for id in ids {
                let person = person(id)
                sum &+= manner == .twoFields ? UInt64(person.score) &+ nameDigest(person.name) : person.digest
            }
            return withExtendedLifetime(departments) { sum }
        }
    }

    /// Fires the faults of the persons and reads them; making the faults, which a fetch does for many at a time, and
    /// letting go of the objects is not timed. 1,000 faults are there at a time.
    ///
    /// - Returns: Seconds for all of them, and the same sum as ``read(_:_:)``.
    public func fireFaults(_ ids: [UInt64], _ manner: ReadManner) throws -> (seconds: Double, digest: UInt64) {
        try context.performAndWait {
            let departments = try (1...PersonRow.departmentCount).map(department)
            var sum: UInt64 = 0
            var seconds = 0.0
            for start in stride(from: 0, to: ids.count, by: 1_000) {
                // No object twice, since the second would be no fault any more.
                let persons = Set(ids[start..<min(start + 1_000, ids.count)]).map { person($0) }
                let (batch, digest) = timed {
                    var sum: UInt64 = 0
                    for person in persons {
                        sum &+= manner == .twoFields ? UInt64(person.score) &+ nameDigest(person.name) : person.digest
                    }
                    return sum
                }
                seconds += batch
                sum &+= digest
            }
            return withExtendedLifetime(departments) { (seconds, sum) }
        }
    }

    public func readSequentially() throws -> UInt64? {
        try context.performAndWait {
            let departments = try (1...PersonRow.departmentCount).map(department)
            var sum: UInt64 = 0
            for person in try context.fetch(NSFetchRequest<Person>(entityName: "Person")) { sum &+= person.digest }
            return withExtendedLifetime(departments) { sum }
        }
    }

    /// The predicate as a fetch request's count; sums by group do not exist yet.
    public func scan(_ query: ScanQuery) throws -> UInt64? {
        guard query == .predicate else { return nil }
        return try context.performAndWait {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = NSPredicate(format: "age >= 40 AND bio CONTAINS %@", "delta")
            return UInt64(try context.count(for: request))
        }
    }

    public func traverse(department number: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64) {
        try context.performAndWait {
            let persons = try department(number).persons
            var sum: UInt64 = 0
            var unused: UInt64 = 0
            for person in persons {
                if decodesAll { unused &+= person.digest }
                sum &+= nameDigest(person.name)
            }
            // The digest of all fields is thrown away, but the compiler must not know.
            return (persons.count, unused == .max ? 0 : sum)
        }
    }
}

extension Person {
    /// The sum over all fields, each read through its accessor.
    var digest: UInt64 {
        DataSet.digest(
            age: age, department: UInt64(department?.number ?? 0), score: score,
            created: created.timeIntervalSince1970, active: active, name: name, email: email, bio: bio)
    }
}
