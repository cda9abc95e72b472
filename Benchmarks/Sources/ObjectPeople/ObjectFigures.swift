import BenchSupport
import CBenchSupport
import DataSet
import Foundation
import Strata

/// What single operations on managed objects cost, over an in-memory store: the same engine without a disk's flushes.
public struct ObjectFigures {
    public struct Creation: Sendable {
        public var createNanoseconds: Double
        public var savedPerSecond: Double
        public var bytesPerObject: Double
    }

    public struct Access: Sendable {
        public var readInt16 = 0.0
        public var readShortString = 0.0
        public var setInt16 = 0.0
        public var setString = 0.0
    }

    private let context: NSManagedObjectContext

    public init() throws {
        let store = NSPersistentStoreDescription()
        store.type = NSInMemoryStoreType
        let model = PeopleModel.model(deletingPersons: .cascadeDeleteRule)
        context = try PeopleContainer.load(store, model).newBackgroundContext()
    }

    /// Makes objects with eight attributes each, gives each a department, saves them at once, and reads them back.
    public func creation(count: Int) throws -> Creation {
        let rows = PersonRow.all(count)
        return try context.performAndWait {
            let ids = try PeopleContainer.insertDepartments(context)
            let departments = ids.compactMap { context.object(with: $0) as? Department }
            let (createSeconds, persons) = timed {
                rows.map { row in
                    let person = Person(context: context)
                    person.set(row)
                    return person
                }
            }
            for (row, person) in zip(rows, persons) { person.department = departments[Int(row.department) - 1] }
            let (saveSeconds, _) = try timed { try context.save() }
            context.reset()
            return Creation(
                createNanoseconds: createSeconds / Double(count) * 1e9, savedPerSecond: Double(count) / saveSeconds,
                bytesPerObject: try memory(count: count))
        }
    }

    /// Heap that one realized object holds. The blocks with the rows, and so the strings, are in the cache before.
    private func memory(count: Int) throws -> Double {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.returnsObjectsAsFaults = false
        for person in try context.fetch(request) { _ = person.digest }
        context.reset()
        let before = bench_heap_bytes()
        let persons = try context.fetch(request)
        for person in persons { _ = person.age }
        let after = bench_heap_bytes()
        return withExtendedLifetime(persons) { Double(after - before) / Double(count) }
    }

    /// Nanoseconds of typed reads and changes of realized objects that ``creation(count:)`` saved.
    public func access(count: Int, rounds: Int) throws -> Access {
        try context.performAndWait {
            let request = NSFetchRequest<Department>(entityName: "Department")
            request.fetchLimit = count
            let departments = try context.fetch(request)
            let personRequest = NSFetchRequest<Person>(entityName: "Person")
            personRequest.fetchLimit = count
            let persons = try context.fetch(personRequest)
            // Realized, all of them.
            for person in persons { _ = person.digest }
            var access = Access()
            var sum = 0
            access.readInt16 = perCall(persons, rounds) { sum &+= Int($0.age) }
            // "Department 0001" is 15 bytes: a string without memory of its own.
            access.readShortString = perCall(departments, rounds) { sum &+= $0.name.utf8.count }
            access.setInt16 = perCall(persons, rounds) { $0.age = Int16(truncatingIfNeeded: sum) }
            let name = departmentName(sum % 10)
            access.setString = perCall(departments, rounds) { $0.name = name }
            context.rollback()
            return access
        }
    }

    private func perCall<Object>(_ objects: [Object], _ rounds: Int, _ body: (Object) -> Void) -> Double {
        let (seconds, _) = timed {
            for _ in 0..<rounds {
                for object in objects { body(object) }
            }
        }
        return seconds / Double(objects.count * rounds) * 1e9
    }

    /// Deletes parents with their children through the delete rule, and saves. Returns objects a second.
    public func cascade(parents: Int, children: Int) throws -> Double {
        let rows = PersonRow.all(children)
        return try context.performAndWait {
            let oldest = try context.count(for: NSFetchRequest<Department>(entityName: "Department"))
            for number in 1...parents {
                let parent = Department(context: context)
                parent.number = Int32(oldest + number)
                parent.name = departmentName(number)
                for row in rows {
                    let person = Person(context: context)
                    person.set(row)
                    person.department = parent
                }
                if number % 10 == 0 || number == parents { try context.save() }
            }
            context.reset()
            let request = NSFetchRequest<Department>(entityName: "Department")
            let doomed = try context.fetch(request).filter { Int($0.number) > oldest }
            guard doomed.count == parents else { throw BenchFailure("\(doomed.count) parents of \(parents)") }
            let (seconds, _) = try timed {
                for parent in doomed { context.delete(parent) }
                try context.save()
            }
            return Double(parents * (children + 1)) / seconds
        }
    }
}
