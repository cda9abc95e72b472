import CoreData
import Foundation
import Testing

/// A predicate for groups may name what is neither grouped by nor fetched: SQLite takes it from a row of the group.
@Suite struct HavingColumnTests {
    /// Three departments, each with a budget, and their employees: 1 to 3, 11 to 13 and 21 to 23 years old.
    private static func with(
        _ kind: StoreKind, isChild: Bool = false, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for number in 0..<3 {
                let department = Department(context: context)
                department.title = "d\(number)"
                department.budget = Int64(number * 100)
                for age in 1...3 {
                    let employee = Employee(context: context)
                    employee.name = "\(number)\(age)"
                    employee.age = Int16(number * 10 + age)
                    employee.department = department
                }
            }
            try context.save()
            if !isChild { try body(context) }
        }
        guard isChild else { return }
        let child = ContextLine.child(of: context)
        try child.performAndWait { try body(child) }
    }

    private static func expression(_ name: String, _ format: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        return description
    }

    private static func groups(
        _ having: String, by key: String, fetching more: [NSExpressionDescription] = [],
        _ context: NSManagedObjectContext
    ) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = [key]
        request.propertiesToFetch = [key] + more
        request.havingPredicate = NSPredicate(format: having)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let found = try context.fetch(request)
        #expect(try context.count(for: request) == found.count)
        return found.map { $0[key] as? String ?? "-" }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func aColumnIsThatOfARowOfTheGroup(_ kind: StoreKind, _ isChild: Bool) throws {
        try Self.with(kind, isChild: isChild) { context throws in
            let key = "department.title"
            #expect(try Self.groups("department.budget >= 100", by: key, context) == ["d1", "d2"])
            #expect(try Self.groups("department.budget != 100", by: key, context) == ["d0", "d2"])
            #expect(try Self.groups("NOT (department.budget == 100)", by: key, context) == ["d0", "d2"])
            #expect(try Self.groups("age > 20", by: key, context) == ["d2"])
            #expect(try Self.groups("age + 10 > 20 AND sum(age) < 60", by: key, context) == ["d1"])
            #expect(
                try Self.groups(
                    "age > 20 AND $n == 3", by: key, fetching: [Self.expression("n", "count(name)")], context) == ["d2"]
            )
            #expect(try Self.groups("department == nil", by: key, context) == [])
            #expect(try Self.groups("badge == nil", by: key, context) == ["d0", "d1", "d2"])
            #expect(try Self.groups("name BEGINSWITH '1'", by: key, context) == ["d1"])
            #expect(
                try Self.groups("name == '12' OR department.title == 'd0'", by: "name", context) == [
                    "01", "02", "03", "12",
                ])
        }
    }

    /// Beside one `min` or `max` the row is the one that has it.
    @Test(arguments: StoreKind.allCases, [false, true])
    func besideAnExtremeItIsThatOfItsRow(_ kind: StoreKind, _ isChild: Bool) throws {
        try Self.with(kind, isChild: isChild) { context throws in
            let key = "department.title"
            let (least, most) = (Self.expression("x", "min(age)"), Self.expression("x", "max(age)"))
            #expect(try Self.groups("name ENDSWITH '1'", by: key, fetching: [least], context) == ["d0", "d1", "d2"])
            #expect(try Self.groups("name ENDSWITH '3'", by: key, fetching: [least], context) == [])
            #expect(try Self.groups("name == '13'", by: key, fetching: [most], context) == ["d1"])
            #expect(try Self.groups("name == '13' AND max(age) > 3", by: key, context) == ["d1"])
            // The same extreme twice is one.
            #expect(try Self.groups("name == '13' AND max(age) > 3", by: key, fetching: [most], context) == ["d1"])
        }
    }
}
