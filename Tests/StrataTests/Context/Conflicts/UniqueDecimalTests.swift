import CoreData
import Foundation
import Testing

/// Decimals that must be unique: 1, 1.0 and 1.00 are one value, whatever their digits.
@Suite struct UniqueDecimalTests {
    private static func model(isUnique: Bool = true) -> NSManagedObjectModel {
        let item = GraphModel.entity("Item")
        item.properties = [
            GraphModel.attribute("price", .decimalAttributeType), GraphModel.attribute("name", .stringAttributeType),
        ]
        if isUnique { item.uniquenessConstraints = [["price"]] }
        let pair = GraphModel.entity("Pair")
        pair.properties = [
            GraphModel.attribute("left", .decimalAttributeType), GraphModel.attribute("right", .decimalAttributeType),
        ]
        if isUnique { pair.uniquenessConstraints = [["left", "right"]] }
        let model = NSManagedObjectModel()
        model.entities = [item, pair]
        return model
    }

    /// A value with so many zeros behind it.
    private static func decimal(_ significand: Int, _ zeros: Int, tenths: Int = 0) -> NSDecimalNumber {
        var power = Decimal(abs(significand))
        for _ in 0..<zeros { power *= 10 }
        return NSDecimalNumber(
            decimal: Decimal(
                sign: significand < 0 ? .minus : .plus, exponent: -zeros - tenths, significand: power))
    }

    private static func prices(_ store: TestStore) throws -> [String] {
        try stored("Item", store, sort: "price").map { "\($0.value(forKey: "price") ?? "")" }
    }

    @Test(arguments: StoreKind.allCases, [(1, 0), (0, 0), (-5, 0), (12_345, 3)])
    func equalNumbersAreRefused(_ kind: StoreKind, _ value: (significand: Int, tenths: Int)) throws {
        for (first, second) in [(0, 2), (2, 0), (1, 3), (0, 0)] {
            let store = try TestStore(kind, Self.model())
            let context = store.context()
            try context.performAndWait {
                let one = Self.decimal(value.significand, first, tenths: value.tenths)
                let other = Self.decimal(value.significand, second, tenths: value.tenths)
                let stored = item(context, ["price": one])
                // Within one save.
                let double = item(context, ["price": other])
                #expect(saveError(context)?.code.rawValue == 133021)
                context.delete(double)
                try context.save()
                // Against what is stored.
                let again = item(context, ["price": other])
                let error = saveError(context)
                #expect(error?.code.rawValue == 133021)
                let conflicts = error?.userInfo["conflictList"] as? [NSConstraintConflict]
                #expect(conflicts?.first?.databaseObject === stored)
                again.setValue(other.adding(1), forKey: "price")
                try context.save()
                again.setValue(other, forKey: "price")
                #expect(saveError(context)?.code.rawValue == 133021)
                context.rollback()
                // The same value in other digits is the object's own.
                stored.setValue(other, forKey: "price")
                try context.save()
            }
            #expect(try Self.prices(store).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func policiesMergeEqualNumbers(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            _ = item(context, ["price": Self.decimal(15, 0, tenths: 1), "name": "old"])
            _ = insert("Pair", context).set(["left": Self.decimal(1, 0), "right": Self.decimal(2, 1)])
            try context.save()
            context.mergePolicy = NSMergePolicy(merge: policy)
            for zeros in 1...3 {
                _ = item(context, ["price": Self.decimal(15, zeros, tenths: 1), "name": "new"])
                _ = insert("Pair", context).set(["left": Self.decimal(1, zeros), "right": Self.decimal(2, 0)])
            }
            _ = insert("Pair", context).set(["left": Self.decimal(10, 0), "right": Self.decimal(2, 0)])
            try context.save()
        }
        let objectWins =
            policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
        #expect(try stored("Item", store, sort: "price").map { $0.text("name") } == [objectWins ? "new" : "old"])
        #expect(try stored("Pair", store, sort: "left").count == 2)
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func batchInsertsMeetEqualNumbers(_ kind: StoreKind, _ isObjects: Bool) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            _ = item(context, ["price": Self.decimal(1, 0), "name": "old"])
            try context.save()
            func insertion(_ prices: [NSDecimalNumber]) -> NSBatchInsertRequest {
                var rest = prices
                if !isObjects {
                    return NSBatchInsertRequest(
                        entityName: "Item", objects: prices.map { ["price": $0, "name": "new"] })
                }
                return NSBatchInsertRequest(
                    entityName: "Item",
                    managedObjectHandler: { object in
                        guard !rest.isEmpty else { return true }
                        object.setValue(rest.removeFirst(), forKey: "price")
                        object.setValue("new", forKey: "name")
                        return false
                    })
            }
            let stored = [Self.decimal(7, 0), Self.decimal(1, 2)]
            let among = [Self.decimal(7, 0), Self.decimal(7, 2), Self.decimal(7, 1)]
            for prices in [stored, among] {
                let error = #expect(throws: CocoaError.self) { try context.execute(insertion(prices)) }
                #expect(error?.code.rawValue == 133021)
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for prices in [stored, among] { _ = try context.execute(insertion(prices)) }
        }
        #expect(try Self.prices(store).count == 2)
        #expect(try stored("Item", store, sort: "price").map { $0.text("name") } == ["new", "new"])
    }

    /// A constraint that a newer model brings is checked against what is stored.
    @Test func aNewConstraintFindsEqualNumbers() throws {
        for zeros in [0, 2] {
            let store = try TestStore(.log, Self.model(isUnique: false))
            let context = store.context()
            try context.performAndWait {
                for digits in [0, zeros] { _ = item(context, ["price": Self.decimal(1, digits)]) }
                try context.save()
            }
            try store.coordinator.remove(store.store)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            #expect(throws: CocoaError.self, "\(zeros)") {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
                    options: [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ])
            }
        }
    }
}
