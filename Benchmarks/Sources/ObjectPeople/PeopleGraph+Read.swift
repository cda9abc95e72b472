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

    /// Fetch requests: counts, dictionaries of groups, and objects.
    public func scan(_ query: ScanQuery) throws -> UInt64? {
        try context.performAndWait {
            switch query {
            case .predicate: try count(NSPredicate(format: "age >= 40 AND bio CONTAINS %@", "delta"))
            case .numbers: try count(NSPredicate(format: "age >= 40 AND active == YES"))
            case .folded: try count(NSPredicate(format: "bio CONTAINS[cd] %@", "DELTA"))
            case .groupSum: try sumByDepartment()
            case .sorted: try firstByEmail()
            }
        }
    }

    private func count(_ predicate: NSPredicate) throws -> UInt64 {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = predicate
        return UInt64(try context.count(for: request))
    }

    private func sumByDepartment() throws -> UInt64 {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        let columns = ["sum", "average"].map { function in
            let column = NSExpressionDescription()
            column.name = function
            column.expression = NSExpression(format: "\(function):(score)")
            column.expressionResultType = .doubleAttributeType
            return column
        }
        request.propertiesToFetch = ["department"] + columns
        request.propertiesToGroupBy = ["department"]
        let groups = try context.fetch(request)
        return groupSumCheck(total: groups.reduce(0) { $0 + ($1["sum"] as? Double ?? 0) }, groups: groups.count)
    }

    private func firstByEmail() throws -> UInt64 {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: true)]
        request.fetchLimit = 50
        return try context.fetch(request).reduce(0) { $0 &+ nameDigest($1.name) }
    }

    static func page<Result: NSFetchRequestResult>(
        _ start: PageStart = PageOrder.same.starts(1, rowCount: 1)[0]
    ) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: "Person")
        request.predicate =
            if let name = start.name {
                NSPredicate(format: "age == %d AND name >= %@", Int32(start.age), name)
            } else {
                NSPredicate(format: "age == %d", Int32(start.age))
            }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = Workload.pageCount
        return request
    }

    /// One request is made for pages that follow each other and begin alike.
    public func readPages(_ starts: [PageStart], idsOnly: Bool) throws -> UInt64 {
        try context.performAndWait {
            var last: PageStart?
            if idsOnly {
                var request = NSFetchRequest<NSManagedObjectID>()
                var found: UInt64 = 0
                for start in starts {
                    if start != last { (last, request) = (start, Self.page(start)) }
                    request.resultType = .managedObjectIDResultType
                    found += UInt64(try context.fetch(request).count)
                }
                return found
            }
            let departments = try (1...PersonRow.departmentCount).map(department)
            var request = NSFetchRequest<Person>()
            var sum: UInt64 = 0
            for start in starts {
                if start != last { (last, request) = (start, Self.page(start)) }
                for person in try context.fetch(request) { sum &+= person.digest }
            }
            return withExtendedLifetime(departments) { sum }
        }
    }

    /// Whether the IDs of a page are those of its objects.
    public func checkPage() throws -> Bool {
        try context.performAndWait {
            let ids: NSFetchRequest<NSManagedObjectID> = Self.page()
            ids.resultType = .managedObjectIDResultType
            let objects: NSFetchRequest<Person> = Self.page()
            return try context.fetch(ids) == context.fetch(objects).map(\.objectID)
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
