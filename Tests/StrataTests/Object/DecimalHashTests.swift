import CoreData
import Foundation
import Testing

/// Foundation's hash of a decimal calls itself until the stack overflows: a program that put a price into a set, or
/// grouped objects by it, was stopped.
@Suite struct DecimalHashTests {
    private static func check(_ value: Any?, _ wanted: Decimal) throws {
        let number = try #require(value as? NSDecimalNumber)
        #expect(number.decimalValue == wanted && number == NSDecimalNumber(decimal: wanted))
        #expect(value as? Decimal == wanted && value as? NSNumber == number)
        let name = try #require(value as? AnyHashable)
        #expect(Set([name, name]).count == 1 && Set<NSObject>([number]).contains(number))
        #expect(NSSet(array: [number, number]).count == 1 && NSOrderedSet(array: [number]).contains(number))
        #expect([name: 1][name] == 1)
        // Equal numbers have equal hashes.
        if let integer = Int64("\(wanted)") { #expect(NSNumber(value: integer).hash == number.hash) }
        #expect(NSNumber(value: number.doubleValue).hash == number.hash || number.doubleValue != 12.5)
    }

    @Test(arguments: StoreKind.allCases, ["0", "7", "-7", "12.5", "0.1", "-12345678901234567890.123456789"])
    func decimalsThatAreReadGoIntoSets(_ kind: StoreKind, _ text: String) throws {
        let wanted = try #require(Decimal(string: text))
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait {
            let thing = insert("Thing", context).set(["decimal": NSDecimalNumber(decimal: wanted)])
            try Self.check(thing.value(forKey: "decimal"), wanted)
            try Self.check(thing.changedValues()["decimal"], wanted)
            try context.save()
            context.refresh(thing, mergeChanges: false)
            try Self.check(thing.value(forKey: "decimal"), wanted)
            try Self.check(thing.primitiveValue(forKey: "decimal"), wanted)
            try Self.check(thing.committedValues(forKeys: nil)["decimal"], wanted)
            try Self.check(thing.dictionaryWithValues(forKeys: ["decimal"])["decimal"], wanted)
            thing.setValue(wanted, forKey: "decimal")
            try Self.check(thing.value(forKey: "decimal"), wanted)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                try Self.check(child.object(with: thing.objectID).value(forKey: "decimal"), wanted)
            }
            let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
            request.resultType = .dictionaryResultType
            let sum = NSExpressionDescription()
            (sum.name, sum.expression) = ("sum", NSExpression(format: "sum:(decimal)"))
            sum.expressionResultType = .decimalAttributeType
            for (name, properties) in [("decimal", ["decimal"]), ("sum", [sum])] as [(String, [Any])] {
                request.propertiesToFetch = properties
                try Self.check(try #require(try context.fetch(request).first).object(forKey: name), wanted)
            }
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            try Self.check((things as NSArray).value(forKeyPath: "@max.decimal"), wanted)
        }
    }
}
