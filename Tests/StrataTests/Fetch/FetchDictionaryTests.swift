import CoreData
import Foundation
import Testing

/// Fetches of dictionaries: columns, expressions, groups.
@Suite struct FetchDictionaryTests {
    private func expression(
        _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func fetch(
        _ kind: StoreKind, _ entity: String = "Employee", _ change: (NSFetchRequest<NSDictionary>) -> Void
    ) throws -> [[String: Any]] {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        return try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: entity)
            request.resultType = .dictionaryResultType
            change(request)
            return try context.fetch(request).map { $0 as? [String: Any] ?? [:] }
        }
    }

    @Test(arguments: StoreKind.allCases) func columnsByNameDescriptionAndPath(_ kind: StoreKind) throws {
        let rows = try fetch(kind) { request in
            request.propertiesToFetch = [
                "name", "department.title", "department", expression("next", "age + 1", .integer32AttributeType),
                expression("id", "SELF", .objectIDAttributeType), expression("upper", "uppercase(name)"),
                expression("colleagues", "department.employees.@count"),
            ]
            request.sortDescriptors = [NSSortDescriptor(key: "next", ascending: false)]
        }
        #expect(rows.count == 40)
        #expect(rows.first?["next"] as? Int == 25 && rows.last?["next"] as? Int == 21)
        #expect(rows.allSatisfy { $0["id"] is NSManagedObjectID && ($0["upper"] as? String)?.hasPrefix("E") == true })
        #expect(rows.count { $0["department"] is NSManagedObjectID } == 35)
        // Null is left out.
        #expect(rows.count { $0.keys.contains("department.title") } == 30)
        #expect(Set(rows.compactMap { $0["colleagues"] as? Int }) == [5, 10])
    }

    @Test(arguments: StoreKind.allCases) func aggregatesOverEverything(_ kind: StoreKind) throws {
        let rows = try fetch(kind) { request in
            request.propertiesToFetch = [
                expression("sum", "sum:(age)", .integer64AttributeType), expression("average", "average(age)"),
                expression("min", "min:(age)"), expression("max", "@max.age"), expression("count", "count:(SELF)"),
                expression("departments", "count:(department)"), expression("median", "median:(age)"),
                expression("spread", "stddev:(age)"), expression("range", "max:(age) - min:(age)"),
                expression("scaled", "sum:(age * 2) / count:(name)", .doubleAttributeType),
            ]
        }
        let row = try #require(rows.first)
        #expect(rows.count == 1)
        #expect(row["sum"] as? Int == 880 && row["average"] as? Double == 22)
        #expect(row["min"] as? Int == 20 && row["max"] as? Int == 24)
        #expect(row["count"] as? Int == 40 && row["departments"] as? Int == 35)
        #expect(row["median"] as? Double == 22 && row["range"] as? Int == 4 && row["scaled"] as? Double == 44)
        #expect(abs((row["spread"] as? Double ?? 0) - 2.0.squareRoot()) < 1e-9)
    }

    /// As SQLite adds up texts: each counts as the number that it begins with. The type of the description decides what
    /// comes back.
    @Test(arguments: StoreKind.allCases) func textsAreAddedUpAsNumbers(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let texts = ["12", " 3.5 apples", "-1e1x", "none", ".5", "+", "7e", "0x10", nil]
            for text in texts { Probe(context: context).name = text }
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Probe")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [
                expression("sum", "sum:(name)"), expression("mean", "average:(name)", .doubleAttributeType),
                expression("whole", "sum:(name)", .integer64AttributeType), expression("path", "@sum.name"),
                expression("text", "sum:(name)", .stringAttributeType), expression("max", "max:(name)"),
            ]
            let row = try #require(try context.fetch(request).first)
            #expect(row["sum"] as? Double == 13 && row["path"] as? Double == 13)
            #expect(row["mean"] as? Double == 13.0 / 8 && row["whole"] as? Int == 13)
            #expect(row["text"] as? String == "13.0" && row["max"] as? String == "none")
            request.predicate = NSPredicate(format: "name IN %@", ["12", "none"])
            request.propertiesToFetch = [expression("sum", "sum:(name)")]
            #expect(try context.fetch(request).first?["sum"] as? Int == 12)
            // Groups are filtered by the same numbers.
            request.predicate = nil
            request.propertiesToFetch = ["name", expression("sum", "sum:(name)")]
            request.propertiesToGroupBy = ["name"]
            request.havingPredicate = NSPredicate(format: "sum:(name) > 5")
            #expect(Set(try context.fetch(request).compactMap { $0["name"] as? String }) == ["12", "7e"])
        }
    }

    @Test(arguments: StoreKind.allCases) func aggregatesOfNothing(_ kind: StoreKind) throws {
        let rows = try fetch(kind) { request in
            request.predicate = NSPredicate(format: "age > 1000")
            request.propertiesToFetch = [
                expression("sum", "sum:(age)"), expression("max", "max:(age)"), expression("count", "count:(age)"),
            ]
        }
        #expect(rows.count == 1 && rows[0]["sum"] as? Int == 0 && rows[0]["count"] as? Int == 0)
        #expect(rows[0]["max"] == nil)
    }

    @Test(arguments: StoreKind.allCases) func groupsWithHavingAndOrder(_ kind: StoreKind) throws {
        let total = expression("total", "sum:(age)", .integer64AttributeType)
        let rows = try fetch(kind) { request in
            request.propertiesToFetch = ["department.title", total, expression("n", "count:(SELF)")]
            request.propertiesToGroupBy = ["department.title"]
        }
        // In the order of the groups; employees without department and with an untitled one are one group.
        #expect(rows.map { $0["department.title"] as? String } == [nil, "D0", "D1", "D2"])
        #expect(rows.map { $0["n"] as? Int } == [10, 10, 10, 10])
        #expect(rows.reduce(0) { $0 + ($1["total"] as? Int ?? 0) } == 880)
        let byAge = try fetch(kind) { request in
            request.propertiesToFetch = ["age", expression("n", "count:(SELF)")]
            request.propertiesToGroupBy = ["age"]
            request.havingPredicate = NSPredicate(format: "age > 20 AND sum:(age) < %d AND $n >= 8", 24 * 8)
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            request.fetchOffset = 1
            request.fetchLimit = 5
        }
        #expect(byAge.map { $0["age"] as? Int } == [22, 21])
        let sorted = try fetch(kind) { request in
            request.propertiesToFetch = ["age", expression("n", "count:(department)")]
            request.propertiesToGroupBy = ["age"]
            request.sortDescriptors = [
                NSSortDescriptor(key: "n", ascending: true), NSSortDescriptor(key: "age", ascending: true),
            ]
        }
        #expect(sorted.count == 5 && sorted.map { $0["n"] as? Int ?? 0 } == [7, 7, 7, 7, 7])
    }

    /// As in SQL, which joins the members with the rows of the group.
    @Test(arguments: StoreKind.allCases) func groupsCountAndSumMembers(_ kind: StoreKind) throws {
        let forms = [
            "n": "count:(department.employees)", "m": "department.employees.@count",
            "sum": "sum:(department.employees.age)", "least": "min:(department.employees.age)",
            "greatest": "department.employees.@max.age", "more": "count:(department.employees) + 1",
        ]
        let rows = try fetch(kind) { request in
            request.propertiesToFetch = ["department.title"] + forms.map { expression($0.key, $0.value) }
            request.propertiesToGroupBy = ["department.title"]
            request.predicate = NSPredicate(format: "department.title != nil")
        }
        #expect(rows.map { $0["department.title"] as? String } == ["D0", "D1", "D2"])
        #expect(rows.allSatisfy { $0["n"] as? Int == 100 && $0["m"] as? Int == 100 && $0["more"] as? Int == 101 })
        for row in rows {
            let ages = try fetch(kind) { request in
                request.propertiesToFetch = ["age"]
                request.predicate = NSPredicate(
                    format: "department.title == %@", row["department.title"] as? String ?? "")
            }.compactMap { $0["age"] as? Int }
            #expect(row["sum"] as? Int == ages.reduce(0, +) * ages.count)
            #expect(row["least"] as? Int == ages.min() && row["greatest"] as? Int == ages.max())
        }
    }

    @Test(arguments: StoreKind.allCases) func distinctValuesCountOnce(_ kind: StoreKind) throws {
        let distinct = ["n": "count:(distinct:(age))", "sum": "sum:(distinct:(age))", "all": "count:(age)"]
        let whole = try fetch(kind) { $0.propertiesToFetch = distinct.map { expression($0.key, $0.value) } }
        #expect(
            whole.count == 1 && whole.first?["n"] as? Int == 5 && whole.first?["sum"] as? Int == 20 + 21 + 22 + 23 + 24)
        #expect(whole.first?["all"] as? Int == 40)
        let groups = try fetch(kind) { request in
            request.propertiesToFetch = ["department.title"] + distinct.map { expression($0.key, $0.value) }
            request.propertiesToGroupBy = ["department.title"]
        }
        for group in groups {
            let ages = try fetch(kind) { request in
                request.propertiesToFetch = ["age"]
                let title = group["department.title"] as? String
                request.predicate =
                    title.map { NSPredicate(format: "department.title == %@", $0) }
                    ?? NSPredicate(format: "department.title == nil")
            }.compactMap { $0["age"] as? Int }
            #expect(group["n"] as? Int == Set(ages).count && group["all"] as? Int == ages.count)
            #expect(group["sum"] as? Int == Set(ages).reduce(0, +))
        }
    }

    @Test(arguments: StoreKind.allCases) func unknownFunctionsThrow(_ kind: StoreKind) throws {
        let unknown = NSExpression(forFunction: "nonsense:", arguments: [NSExpression(forKeyPath: "age")])
        let column = NSExpressionDescription()
        column.name = "n"
        column.expression = unknown
        #expect(throws: CocoaError.self) { try fetch(kind) { $0.propertiesToFetch = [column] } }
        #expect(throws: CocoaError.self) {
            try fetch(kind) {
                $0.predicate = NSComparisonPredicate(
                    leftExpression: unknown, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
                    type: .equalTo)
            }
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            "name.nonsense == 1", "department.title.length.nonsense == 1", "FUNCTION(name, 'nonsense') == 1",
            "FUNCTION(name, 'nonsense:', 'x') == 1", "FUNCTION(department.title, 'nonsense') == 1",
            "CAST(age, 'Nonsense') == 1", "ANY department.employees.age.nonsense == 1",
        ])
    func propertiesMethodsAndTypesThatValuesDoNotHaveThrow(_ kind: StoreKind, _ format: String) throws {
        #expect(throws: CocoaError.self) { try fetch(kind) { $0.predicate = NSPredicate(format: format) } }
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            "name.length > 0", "department.title.uppercaseString == 'R&D'", "FUNCTION(name, 'length') > 0",
            "FUNCTION(name, 'hasPrefix:', 'x') == YES", "CAST(age, 'NSString') == '20'", "age.intValue > 1",
            "FUNCTION(department, 'valueForKey:', 'title') == 'R&D'",
        ])
    func propertiesMethodsAndTypesThatValuesHaveAreTaken(_ kind: StoreKind, _ format: String) throws {
        #expect(throws: Never.self) { try fetch(kind) { $0.predicate = NSPredicate(format: format) } }
    }

    @Test(arguments: StoreKind.allCases) func groupsByRelationshipsAndExpressions(_ kind: StoreKind) throws {
        let rows = try fetch(kind) { request in
            request.propertiesToFetch = ["department", expression("n", "count:(name)")]
            request.propertiesToGroupBy = ["department"]
        }
        #expect(rows.count == 5 && rows.count { $0["department"] is NSManagedObjectID } == 4)
        let parity = expression("parity", "modulus:by:(age, 2)", .integer16AttributeType)
        let halves = try fetch(kind) { request in
            request.propertiesToFetch = [parity, expression("n", "count:(name)")]
            request.propertiesToGroupBy = [parity]
        }
        #expect(halves.map { $0["n"] as? Int } == [24, 16])
    }

    @Test(arguments: StoreKind.allCases) func countsPerRowOfToManyRelationships(_ kind: StoreKind) throws {
        let rows = try fetch(kind, "Department") { request in
            request.propertiesToFetch = [
                "title", expression("n", "count:(employees)"), expression("oldest", "max:(employees.age)"),
                expression("sum", "employees.@sum.age"),
            ]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        }
        #expect(rows.map { $0["n"] as? Int } == [5, 10, 10, 10])
        #expect(rows.allSatisfy { $0["oldest"] as? Int == 24 && ($0["sum"] as? Int ?? 0) > 0 })
    }

    @Test(arguments: StoreKind.allCases) func distinctAndCountsOfDictionaries(_ kind: StoreKind) throws {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["age"]
            #expect(try context.fetch(request).count == 40)
            #expect(try context.count(for: request) == 40)
            request.returnsDistinctResults = true
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            request.fetchLimit = 3
            #expect(try context.fetch(request).map { $0["age"] as? Int } == [20, 21, 22])
            request.fetchLimit = 0
            #expect(try context.count(for: request) == 5)
        }
    }

    @Test(arguments: StoreKind.allCases) func columnsThatMakeNoSenseThrow(_ kind: StoreKind) throws {
        func message(_ change: (NSFetchRequest<NSDictionary>) -> Void) -> String {
            do {
                return "\(try fetch(kind, "Employee", change).count) rows"
            } catch {
                return error.localizedDescription
            }
        }
        #expect(message { $0.propertiesToFetch = ["projects"] }.contains("to many"))
        #expect(message { $0.propertiesToFetch = ["height"] }.contains("height not found"))
        #expect(message { $0.propertiesToFetch = [3] }.contains("Invalid property"))
        #expect(message { $0.propertiesToFetch = [NSExpressionDescription()] }.contains("no expression"))
        #expect(
            message {
                $0.propertiesToFetch = ["name", "age"]
                $0.propertiesToGroupBy = ["age"]
            }.contains("GROUP BY"))
        #expect(
            message {
                $0.propertiesToFetch = ["name"]
                $0.havingPredicate = NSPredicate(format: "age > 3")
            }.contains("HAVING"))
    }
}
