import CoreData
import Foundation
import Testing

/// Groups by one column of strings: which rows belong together is told by comparing words, for short ones.
@Suite struct GroupByTextTests {
    /// Strings that a comparison by first and last bytes could mistake for one another.
    private static let texts: [String] = {
        var texts = ["", "\0", "\0\0", "a\0", "\0a"]
        for count in 1...20 {
            texts.append(String(repeating: "x", count: count))
            texts.append(String(repeating: "x", count: count - 1) + "y")
            texts.append("y" + String(repeating: "x", count: count))
        }
        // The same first and last eight bytes, at different lengths and with something between.
        for middle in ["", "-", "--", "+", "+-"] { texts.append("abcdefgh" + middle + "ijklmnop") }
        // More than there are places for short ones.
        texts += (0..<600).map { "key\($0)" }
        return Array(Set(texts)).sorted()
    }()

    /// Each text as often as its place in the list says, in an order that mixes them.
    @Test(arguments: StoreKind.allCases) func everyTextHasItsOwnGroup(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let texts = Self.texts
        try context.performAndWait {
            for round in 0..<3 {
                for (index, text) in texts.enumerated() where index % 3 >= round {
                    let employee = Employee(context: context)
                    employee.name = text
                    employee.age = Int16(index)
                }
                try context.save()
            }
            context.reset()
            let groups = try groups(context)
            #expect(groups.count == texts.count)
            for (index, text) in texts.enumerated() {
                let group = groups[text]
                #expect(group?.count == index % 3 + 1, "\(text.debugDescription)")
                #expect(group?.sum == (index % 3 + 1) * index, "\(text.debugDescription)")
            }
        }
    }

    private func groups(_ context: NSManagedObjectContext) throws -> [String: (count: Int, sum: Int)] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        let columns = [("count", "name"), ("sum", "age")].map { function, key in
            let column = NSExpressionDescription()
            column.name = function
            column.expression = NSExpression(format: "\(function):(\(key))")
            column.expressionResultType = .integer64AttributeType
            return column
        }
        request.propertiesToFetch = ["name"] + columns
        request.propertiesToGroupBy = ["name"]
        var groups: [String: (count: Int, sum: Int)] = [:]
        for row in try context.fetch(request) {
            let name = row["name"] as? String ?? "?"
            #expect(groups[name] == nil, "\(name.debugDescription) has two groups")
            groups[name] = ((row["count"] as? NSNumber)?.intValue ?? 0, (row["sum"] as? NSNumber)?.intValue ?? 0)
        }
        return groups
    }
}
