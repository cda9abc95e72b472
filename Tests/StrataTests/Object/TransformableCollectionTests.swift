import CoreData
import Foundation
import Testing

/// What `@NSManaged` makes of properties of these types over transformable attributes.
private final class Bag: NSManagedObject {
    static let slots = ManagedSlots("value")

    func read<Value>(_ type: Value.Type) -> Value? { _propertyOrNil(Self.slots, 0, as: Value?.self) }

    func write<Value>(_ value: Value?) { _setPropertyOrNil(value, Self.slots, 0) }
}

@Suite struct TransformableCollectionTests {
    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Bag"
        entity.managedObjectClassName = NSStringFromClass(Bag.self)
        let value = NSAttributeDescription()
        (value.name, value.attributeType, value.isOptional) = ("value", .transformableAttributeType, true)
        entity.properties = [value]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// Sets a value, and reads it before and after it has been stored.
    private func check<Value>(_ value: Value, _ kind: StoreKind, _ isSame: (Value, Value) -> Bool) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            let bag = Bag(context: context)
            #expect(bag.read(Value.self) == nil)
            bag.write(value)
            #expect(bag.read(Value.self).map { isSame($0, value) } == true, "\(Value.self)")
            try context.save()
            context.refresh(bag, mergeChanges: false)
            #expect(bag.read(Value.self).map { isSame($0, value) } == true, "\(Value.self)")
            bag.write(Value?.none)
            try context.save()
            context.refresh(bag, mergeChanges: false)
            #expect(bag.read(Value.self) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func collectionsOfSwift(_ kind: StoreKind) throws {
        try check(["a", "b"], kind, ==)
        try check([1, 2], kind, ==)
        try check(Set(["a", "b"]), kind, ==)
        try check(Set([1, 2]), kind, ==)
        try check(["a": 1], kind, ==)
        try check(["a", "b"] as Set<AnyHashable>, kind, ==)
        try check(["a", "b"] as [AnyHashable], kind, ==)
        try check(["a": "b"] as [AnyHashable: AnyHashable], kind, ==)
        try check([["a"], ["b", "c"]], kind, ==)
    }

    @Test(arguments: StoreKind.allCases) func collectionsOfFoundation(_ kind: StoreKind) throws {
        try check(NSArray(array: ["a", 1]), kind, ==)
        try check(NSSet(array: ["a", 1]), kind, ==)
        try check(NSDictionary(dictionary: ["a": 1]), kind, ==)
        try check(NSOrderedSet(array: ["a", "b"]), kind, ==)
        try check(NSMutableArray(array: ["a", 1]), kind, ==)
        try check(NSMutableSet(array: ["a", 1]), kind, ==)
        try check(NSMutableDictionary(dictionary: ["a": 1]), kind, ==)
        try check(NSMutableOrderedSet(array: ["a", "b"]), kind, ==)
    }

    /// What is declared as mutable is held as what somebody else has set.
    @Test(arguments: StoreKind.allCases) func mutableOnesOverWhatIsNot(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        context.performAndWait {
            let bag = Bag(context: context)
            bag.write(Set(["a"]))
            #expect(bag.read(NSMutableSet.self)?.isEqual(to: ["a"]) == true)
            bag.write(["a"])
            #expect(bag.read(NSMutableArray.self)?.isEqual(to: ["a"]) == true)
            bag.write(["a": 1])
            #expect(bag.read(NSMutableDictionary.self) == ["a": 1])
            bag.write(NSOrderedSet(array: ["a", "b"]))
            #expect(bag.read(NSMutableOrderedSet.self)?.array as? [String] == ["a", "b"])
        }
    }
}
