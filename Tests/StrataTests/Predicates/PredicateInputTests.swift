import CoreData
import Foundation
import Testing

/// `NSPredicate(validating:)`: strings that users have written.
struct PredicateInputTests {
    private static func problem(
        _ format: String, _ arguments: [Any?] = [], for entity: NSEntityDescription? = nil,
        allowing features: PredicateFeatures = []
    ) -> PredicateFormatError? {
        do throws(PredicateFormatError) {
            _ = try NSPredicate(validating: format, arguments: arguments, for: entity, allowing: features)
            return nil
        } catch {
            return error
        }
    }

    @Test func aGoodStringIsAPredicate() throws {
        let predicate = try NSPredicate(validating: "age > 3 AND name BEGINSWITH[c] %@", arguments: ["a"])
        #expect(predicate == NSPredicate(format: "age > 3 AND name BEGINSWITH[c] %@", "a"))
        #expect(Self.problem("SUBQUERY(tags, $t, $t.name == 'x').@count > 0 AND abs:(age) < now()") == nil)
    }

    @Test func faultyStringsSayWhere() {
        #expect(Self.problem("name == AND 3")?.position == 8)
        #expect(Self.problem("name == AND 3")?.localizedDescription.contains("at position 8") == true)
        #expect(Self.problem("name == %@")?.reason.contains("Argument 1 is missing") == true)
        let deep = String(repeating: "(", count: 200) + "a == 1" + String(repeating: ")", count: 200)
        #expect(Self.problem(deep)?.reason.contains("deeper") == true)
        #expect(Self.problem("a == '" + String(repeating: "x", count: 1 << 20) + "'") != nil)
    }

    @Test(arguments: [
        ("FUNCTION(SELF, 'delete') == 1", PredicateFeatures.functions, 0),
        ("a == 1 AND CAST(b, 'NSNumber') == 1", .casts, 11), ("name MATCHES 'a*'", .regularExpressions, 5),
        ("name == $x", .variables, 8),
    ])
    func whatIsNotAskedForIsRefused(_ format: String, _ feature: PredicateFeatures, _ position: Int) {
        let problem = Self.problem(format)
        #expect(problem?.reason.contains("is not allowed here") == true && problem?.position == position)
        #expect(Self.problem(format, allowing: feature) == nil)
    }

    @Test func fetchesBlocksAndUnknownFunctionsAreRefused() {
        #expect(Self.problem("FETCH(%@, %@, NO) == 1", [1, 2])?.reason.contains("FETCH") == true)
        let block = NSExpression(block: { _, _, _ in 1 }, arguments: nil)
        #expect(Self.problem("%@ == 1", [block])?.reason.contains("block") == true)
        #expect(Self.problem("avrage:(a) == 1")?.reason.contains("\"average:\"?") == true)
        #expect(Self.problem("name MATCHES '((('", allowing: .regularExpressions)?.position == 14)
    }

    @Test func anEntityFindsWhatAFetchWould() throws {
        let store = try TestStore(.memory)
        let entity = try #require(store.model.entitiesByName["Employee"])
        let unknown = Self.problem("age > 3 AND nane == 'x'", for: entity)
        #expect(unknown?.position == 12 && unknown?.reason.contains("(did you mean \"name\"?)") == true)
        #expect(Self.problem("age > 'x'", for: entity)?.reason.contains("Employee.age is a number") == true)
        #expect(Self.problem("name == %@", [Date()], for: entity)?.reason.contains("is a String") == true)
        #expect(Self.problem("department == 3", for: entity)?.position == 0)
        #expect(Self.problem("department.title == 'x' AND ANY projects.code == 3", for: entity) == nil)
        #expect(Self.problem("age > $limit", for: entity, allowing: .variables) == nil)
        let context = store.context()
        try context.performAndWait {
            Employee(context: context).name = "30"
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = try NSPredicate(validating: "name == 30", for: entity)
            #expect(try context.fetch(request).count == 1)
        }
    }
}
