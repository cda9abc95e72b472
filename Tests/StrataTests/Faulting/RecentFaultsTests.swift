import CoreData
import Foundation
import Observation
import Testing

/// Faults that were made by ID know of each other: firing one looks up the rows of the next. What they show must not
/// depend on that.
@Suite struct RecentFaultsTests {
    /// Employees with the ages 0, 1, 2 and so on (modulo 30,000), and their IDs.
    private func filled(_ kind: StoreKind, _ count: Int) throws -> (store: TestStore, ids: [NSManagedObjectID]) {
        let store = try TestStore(kind)
        let context = store.context()
        let ids = try context.performAndWait {
            let employees = (0..<count).map { number in
                let employee = Employee(context: context)
                employee.name = "Employee with the number \(number)"
                employee.age = Int16(number % 30_000)
                return employee
            }
            try context.save()
            return employees.map(\.objectID)
        }
        return (store, ids)
    }

    private func fault(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Employee {
        try #require(context.object(with: id) as? Employee)
    }

    /// More than are remembered, in the order in which they were made, backwards, and with gaps.
    @Test(arguments: StoreKind.allCases) func everyFaultShowsItsOwnRow(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 3_000)
        for order in [Array(0..<3_000), (0..<3_000).reversed(), stride(from: 0, to: 3_000, by: 3).shuffled()] {
            let context = store.context()
            try context.performAndWait {
                let employees = try ids.map { try fault($0, context) }
                for number in order {
                    #expect(employees[number].isFault)
                    #expect(employees[number].age == Int16(number))
                    #expect(employees[number].name == "Employee with the number \(number)")
                }
            }
        }
    }

    /// Once more others were made than are remembered, and never fired, the next ones are known again.
    @Test(arguments: StoreKind.allCases) func faultsBehindManyThatNeverFired(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 2_600)
        let context = store.context()
        try context.performAndWait {
            var kept: [Employee] = []
            for part in [0..<1_000, 1_000..<1_900, 1_900..<2_600] {
                kept += try ids[part].map { try fault($0, context) }
                for number in part.suffix(500) {
                    #expect(kept[number].age == Int16(number))
                    #expect(kept[number].name == "Employee with the number \(number)")
                }
            }
            for number in 0..<2_600 { #expect(kept[number].age == Int16(number)) }
        }
    }

    /// The results of a fetch in orders of their own, some of which other ways had made before: neither knows the
    /// others' positions.
    @Test(arguments: StoreKind.allCases) func resultsShowTheirOwnRowsInAnyOrder(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 600)
        for isAscending in [true, false] {
            for order in [Array(0..<600), (0..<600).reversed(), (0..<600).shuffled()] {
                let context = store.context()
                try context.performAndWait {
                    let early = try stride(from: 5, to: 600, by: 9).map { try fault(ids[$0], context) }
                    let request = NSFetchRequest<Employee>(entityName: "Employee")
                    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: isAscending)]
                    let employees = try context.fetch(request)
                    let late = try fault(ids[7], context)
                    for place in order {
                        let number = isAscending ? place : 599 - place
                        #expect(employees[place].age == Int16(number))
                        if place % 50 == 0 { context.refresh(employees[place], mergeChanges: false) }
                        #expect(employees[place].name == "Employee with the number \(number)")
                    }
                    for (index, employee) in early.enumerated() { #expect(employee.age == Int16(5 + 9 * index)) }
                    #expect(late.age == 7)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func faultsShowWhatWasSavedMeanwhile(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 40)
        let (reader, writer) = (store.context(), store.context())
        let employees = try reader.performAndWait { try ids.map { try fault($0, reader) } }
        // Its row has been looked up by the time it changes.
        reader.performAndWait { for number in 0..<5 { #expect(employees[number].age == Int16(number)) } }
        try writer.performAndWait {
            for id in ids[5...] { try fault(id, writer).age += 1_000 }
            try writer.save()
        }
        reader.performAndWait {
            for number in 5..<40 { #expect(employees[number].age == Int16(number + 1_000)) }
        }
    }

    @Test(arguments: StoreKind.allCases) func faultsOfRowsThatAreGoneAreDeleted(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 40)
        let (reader, writer) = (store.context(), store.context())
        try writer.performAndWait {
            for number in [3, 4, 20, 39] { writer.delete(try fault(ids[number], writer)) }
            try writer.save()
        }
        try reader.performAndWait {
            let employees = try ids.map { try fault($0, reader) }
            for (number, employee) in employees.enumerated() {
                let isGone = [3, 4, 20, 39].contains(number)
                #expect(employee.age == (isGone ? 0 : Int16(number)))
                #expect(employee.isDeleted == isGone)
            }
        }
    }

    /// Faults that are released unread, fire by a fetch or are refreshed leave the others as they are.
    @Test(arguments: StoreKind.allCases) func faultsMayGoAndComeBack(_ kind: StoreKind) throws {
        let (store, ids) = try filled(kind, 200)
        let context = store.context()
        try context.performAndWait {
            var employees: [Employee?] = try ids.map { try fault($0, context) }
            for number in stride(from: 0, to: 200, by: 7) { employees[number] = nil }
            for (number, employee) in employees.enumerated() where number % 11 != 0 {
                guard let employee else { continue }
                #expect(employee.age == Int16(number))
                if number % 5 == 0 { context.refresh(employee, mergeChanges: false) }
            }
            for (number, employee) in employees.enumerated() {
                #expect(try (employee ?? fault(ids[number], context)).age == Int16(number))
            }
            context.reset()
            #expect(try fault(ids[42], context).age == 42)
        }
    }

    /// Objects whose reads are watched by the context itself and by the program at once.
    @Test func observedReadsAreStillSeen() throws {
        let (store, ids) = try filled(.log, 64)
        let context = store.context()
        context.isObservationEnabled = true
        try context.performAndWait {
            let employees = try ids.map { try fault($0, context) }
            for employee in employees {
                nonisolated(unsafe) var changes = 0
                withObservationTracking {
                    _ = employee.age
                    _ = employee.department
                } onChange: {
                    changes += 1
                }
                employee.age += 1
                #expect(changes == 1)
            }
        }
    }
}
