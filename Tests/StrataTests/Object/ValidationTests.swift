import CoreData
import Foundation
import Testing

/// Validates a property, the object as a whole, and counts how often it is asked.
private final class Account: NSManagedObject {
    var calls: [String] = []
    /// What willSave sets the number to.
    var numberInWillSave: Int?

    override class var keyValidators: [String: KeyValidator] { ["owner": KeyValidator(Account.validateOwner)] }

    func validateOwner(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        calls.append("owner")
        guard let text = value.pointee as? String else { return }
        if text == "nobody" {
            throw NSError(domain: "Bank", code: 7, userInfo: [NSLocalizedDescriptionKey: "nobody owns nothing"])
        }
        if text != text.capitalized { value.pointee = text.capitalized as AnyObject }
    }

    override func willSave() {
        calls.append("willSave")
        if let numberInWillSave, value(forKey: "number") as? Int != numberInWillSave {
            setValue(numberInWillSave, forKey: "number")
        }
    }

    override func validateForInsert() throws {
        calls.append("insert")
        try super.validateForInsert()
        try validateBalance()
    }

    override func validateForUpdate() throws {
        calls.append("update")
        try super.validateForUpdate()
        try validateBalance()
    }

    override func validateForDelete() throws {
        calls.append("delete")
        try super.validateForDelete()
        if number("balance") != 0 {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectValidationError))
        }
    }

    private func validateBalance() throws {
        guard let balance = number("balance"), let limit = number("limit"), balance > limit else { return }
        throw NSError(domain: "Bank", code: 8)
    }
}

/// Overrides validateValue itself.
private final class Strict: NSManagedObject {
    var keys: [String] = []

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        keys.append(key)
        try super.validateValue(value, forKey: key)
        if key == "text", value.pointee as? String == "bad" {
            throw CocoaError(.managedObjectValidation, userInfo: [NSValidationKeyErrorKey: key])
        }
    }
}

/// Overrides nothing of validation.
private final class Plain: NSManagedObject {
    override func willSave() { super.willSave() }
}

@Suite struct ValidationTests {
    private static let limits = Date(timeIntervalSinceReferenceDate: 0)...Date(timeIntervalSinceReferenceDate: 100)

    private static func limited(
        _ name: String, _ type: NSAttributeType, _ minimum: Any? = nil, _ maximum: Any? = nil, _ pattern: String? = nil
    ) -> NSAttributeDescription {
        let attribute = GraphModel.attribute(name, type)
        attribute.setBounds(minimum: minimum, maximum: maximum, pattern: pattern)
        return attribute
    }

    private static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Account.self, Strict.self, Plain.self)
        let thing = GraphModel.entity("Thing")
        let child = GraphModel.entity("Child")
        let account = GraphModel.entity("Account", Account.self)
        let strict = GraphModel.entity("Strict", Strict.self)
        let plain = GraphModel.entity("Plain", Plain.self)
        let even = GraphModel.attribute("even", .integer32AttributeType)
        even.setValidationPredicates(
            [NSPredicate(format: "modulus:by:(SELF, 2) == 0"), NSPredicate(format: "SELF < 100")],
            withValidationWarnings: ["must be even"])
        let children = GraphModel.relationship("children", to: child, toMany: true)
        (children.minCount, children.maxCount) = (2, 3)
        let parent = GraphModel.relationship("parent", to: thing)
        GraphModel.link(children, parent)
        let needed = GraphModel.relationship("needed", to: child, optional: false)
        needed.setValidationPredicates(
            [NSPredicate(format: "text == 'fine'")], withValidationWarnings: ["the child is not fine"])
        thing.properties = [
            Self.limited("small", .integer16AttributeType, 1, 10),
            Self.limited("real", .doubleAttributeType, -0.5, 0.5),
            Self.limited("money", .decimalAttributeType, NSDecimalNumber(string: "0.01"), nil),
            Self.limited("when", .dateAttributeType, Self.limits.lowerBound, Self.limits.upperBound),
            Self.limited("text", .stringAttributeType, 2, 5, "[a-z]*"), even, children, needed,
            GraphModel.attribute("title", .stringAttributeType, optional: false),
            GraphModel.attribute("flag", .booleanAttributeType, optional: false),
            GraphModel.attribute("stamp", .dateAttributeType), GraphModel.attribute("link", .URIAttributeType),
        ]
        child.properties = [GraphModel.attribute("text", .stringAttributeType), parent]
        account.properties = [
            GraphModel.attribute("owner", .stringAttributeType),
            GraphModel.attribute("number", .integer32AttributeType, optional: false, default: 1),
            GraphModel.attribute("balance", .integer64AttributeType, default: 0),
            GraphModel.attribute("limit", .integer64AttributeType, default: 100),
        ]
        strict.properties = [
            GraphModel.attribute("text", .stringAttributeType, optional: false, default: "x"),
            GraphModel.attribute("note", .stringAttributeType),
        ]
        plain.properties = [GraphModel.attribute("text", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [thing, child, account, strict, plain]
        return model
    }

    private func with(
        _ kind: StoreKind = .memory, _ body: (TestStore, NSManagedObjectContext) throws -> Void
    ) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait { try body(store, context) }
    }

    private func thing(_ context: NSManagedObjectContext) -> NSManagedObject {
        insert("Thing", context).set([
            "title": "title", "flag": false, "needed": insert("Child", context).set(["text": "fine"]),
        ])
    }

    struct Limit: @unchecked Sendable, CustomTestStringConvertible {
        // Unchecked: the values are immutable.
        let key: String
        let value: Any
        let code: Int
        let message: String

        init(_ key: String, _ value: Any, _ code: Int, _ message: String) {
            (self.key, self.value, self.code, self.message) = (key, value, code, message)
        }

        var testDescription: String { "\(key) = \(value)" }
    }

    @Test(arguments: [
        Limit("small", 0, 1620, "Thing.small is too small"), Limit("small", 11, 1610, "Thing.small is too large"),
        Limit("real", -0.75, 1620, "Thing.real is too small"), Limit("real", 0.75, 1610, "Thing.real is too large"),
        Limit("money", NSDecimalNumber(string: "0.001"), 1620, "Thing.money is too small"),
        Limit("when", Date(timeIntervalSinceReferenceDate: -1), 1640, "Thing.when is too soon"),
        Limit("when", Date(timeIntervalSinceReferenceDate: 101), 1630, "Thing.when is too late"),
        Limit("text", "a", 1670, "Thing.text is too short"), Limit("text", "abcdef", 1660, "Thing.text is too long"),
        Limit("text", "a1b", 1680, "Thing.text is not valid"), Limit("even", 3, 1550, "must be even"),
        Limit("even", 200, 1550, "Thing.even is not valid"),
    ])
    func limits(_ limit: Limit) throws {
        let (key, value, code, message) = (limit.key, limit.value, limit.code, limit.message)
        try with { store, context in
            let object = thing(context).set([key: value])
            for _ in 0..<2 {
                let error = saveError(context)
                #expect(error?.code.rawValue == code && error?.localizedDescription.hasPrefix(message) == true)
                #expect(error?.validationKey == key && error?.validationObject as? NSManagedObject === object)
                #expect((error?.validationValue as? NSObject)?.isEqual(value) == true)
                #expect(error?.validationPredicate != nil)
                #expect(error?.affectedObjects?.first === object)
            }
            #expect(try stored("Thing", store, sort: "title").isEmpty)
            object.setValue(nil, forKey: key)
            try context.save()
            object.setValue(value, forKey: key)
            #expect(saveError(context)?.code.rawValue == code)
        }
    }

    @Test func valuesAtTheLimitsAreValid() throws {
        try with { _, context in
            let object = thing(context)
            for (small, real, text, when) in [
                (1, -0.5, "ab", Self.limits.lowerBound), (10, 0.5, "abcde", Self.limits.upperBound),
            ] {
                _ = object.set(["small": small, "real": real, "text": text, "when": when, "even": 98])
                try context.save()
            }
        }
    }

    @Test func mandatoryValuesAndTheirErrors() throws {
        try with { _, context in
            let object = thing(context).set(["title": nil])
            let one = saveError(context)
            #expect(one?.code == .validationMissingMandatoryProperty && one?.validationKey == "title")
            #expect(one?.localizedDescription == "Thing.title is a required value." && one?.validationValue is NSNull)
            _ = object.set(["flag": nil, "needed": nil, "small": 0])
            let second = insert("Thing", context).set(["title": "t", "flag": true])
            let error = saveError(context)
            #expect(error?.code == .validationMultipleErrors)
            #expect(error?.localizedDescription.hasPrefix("Multiple validation errors occurred. Thing.") == true)
            let details = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
            #expect(details.count == 5 && details.allSatisfy { $0.domain == NSCocoaErrorDomain })
            let keys = details.map { detail in
                let owner = detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
                return (owner === second ? "2" : "1") + (detail.userInfo[NSValidationKeyErrorKey] as? String ?? "")
            }
            #expect(Set(keys) == ["1title", "1flag", "1needed", "1small", "2needed"])
            #expect(details.filter { $0.code == 1570 }.count == 4)
        }
    }

    @Test(
        arguments: [Int(1) << 40, UInt64.max, 1e12, NSNumber(value: -3_000_000_000), Decimal(9e18)] as [any Sendable])
    func numbersThatAnAttributeHasNoRoomForAreNotSaved(_ given: any Sendable) throws {
        try with { _, context in
            let account = insert("Account", context).set(["owner": "Me"])
            try context.save()
            account.setValue(given, forKey: "number")
            let number = try #require(given as? NSNumber ?? (given as? Decimal).map { NSDecimalNumber(decimal: $0) })
            #expect((account.value(forKey: "number") as? NSNumber)?.compare(number) == .orderedSame)
            let error = saveError(context)
            #expect(error?.code == (number.doubleValue > 0 ? .validationNumberTooLarge : .validationNumberTooSmall))
            #expect(error?.validationKey == "number" && error?.validationObject as? NSManagedObject === account)
            #expect((error?.validationValue as? NSNumber)?.compare(number) == .orderedSame)
            var value: AnyObject? = number
            #expect(throws: CocoaError.self) { try account.validateValue(&value, forKey: "number") }
            account.setValue(Int32.max, forKey: "number")
            try context.save()
            #expect(account.value(forKey: "number") as? Int32 == .max)
            account.setValue(given, forKey: "number")
            context.rollback()
            #expect(account.value(forKey: "number") as? Int32 == .max)
            account.setValue(Int32.min, forKey: "number")
            try context.save()
            #expect(account.value(forKey: "number") as? Int32 == .min)
        }
    }

    @Test func numbersThatAnAttributeHasNoRoomForAreRefusedInBatches() throws {
        try with { _, context in
            let account = insert("Account", context)
            try context.save()
            for number in [1 << 40, NSNumber(value: -3e10)] as [Any] {
                let insert = NSBatchInsertRequest(entityName: "Account", objects: [["number": number]])
                let error = #expect(throws: CocoaError.self) { try context.execute(insert) }
                #expect(error?.localizedDescription.contains("Account.number") == true)
                var given: [Any] = [number]
                let fill = NSBatchInsertRequest(
                    entityName: "Account",
                    managedObjectHandler: { account in
                        guard let number = given.popLast() else { return true }
                        account.setValue(number, forKey: "number")
                        return false
                    })
                let refused = #expect(throws: CocoaError.self) { try context.execute(fill) }
                #expect(refused?.localizedDescription.contains("Account.number") == true)
                let update = NSBatchUpdateRequest(entityName: "Account")
                update.propertiesToUpdate = ["number": number]
                #expect(throws: CocoaError.self) { try context.execute(update) }
            }
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Account"))
            context.refresh(account, mergeChanges: false)
            #expect(count == 1 && account.value(forKey: "number") as? Int == 1)
        }
    }

    @Test func relationshipCountsAndPredicates() throws {
        try with { _, context in
            let object = thing(context)
            try context.save()
            func children(_ count: Int) -> Int? {
                object.setValue(Set((0..<count).map { _ in insert("Child", context) }), forKey: "children")
                do { try context.save() } catch { return (error as? CocoaError)?.code.rawValue }
                return nil
            }
            #expect(children(1) == 1580)
            #expect(children(4) == 1590)
            #expect(children(2) == nil)
            #expect(children(3) == nil)
            #expect(children(0) == nil)
            (object.value(forKey: "needed") as? NSManagedObject)?.setValue("not", forKey: "text")
            // Only the child has changed, so only the child is validated.
            try context.save()
            object.setValue("changed", forKey: "title")
            let error = saveError(context)
            #expect(error?.code.rawValue == 1550 && error?.localizedDescription == "the child is not fine")
            context.delete(try #require(object.value(forKey: "needed") as? NSManagedObject))
            #expect(saveError(context)?.validationKey == "needed")
            context.rollback()
        }
    }

    @Test(arguments: StoreKind.allCases) func overridesAreCalledOnce(_ kind: StoreKind) throws {
        try with(kind) { store, context in
            let account = Account(context: context)
            let other = Plain(context: context)
            account.setValue("Anna", forKey: "owner")
            account.numberInWillSave = 3
            try context.save()
            #expect(account.calls.filter { $0 != "willSave" } == ["insert", "owner"])
            #expect(account.calls.firstIndex(of: "insert") ?? 0 > account.calls.lastIndex(of: "willSave") ?? 9)
            account.calls = []
            other.setValue("only this one", forKey: "text")
            try context.save()
            #expect(account.calls.isEmpty)
            account.setValue(200, forKey: "balance")
            #expect(throws: NSError(domain: "Bank", code: 8)) { try context.save() }
            account.setValue(50, forKey: "balance")
            account.calls = []
            try context.save()
            #expect(account.calls.filter { $0 != "willSave" } == ["update", "owner"])
            account.calls = []
            context.delete(account)
            #expect(saveError(context)?.code.rawValue == 1550)
            #expect(account.calls.filter { $0 != "willSave" } == ["delete"])
            context.rollback()
            account.setValue(0, forKey: "balance")
            try context.save()
            context.delete(account)
            try context.save()
            #expect(try stored("Account", store, sort: "number").isEmpty)
        }
    }

    @Test func validatorsRefuseAndCorrect() throws {
        try with { store, context in
            let account = Account(context: context).set(["owner": "nobody"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.domain == "Bank" && error?.code == 7)
            account.setValue("anna maria", forKey: "owner")
            try context.save()
            #expect(account.text("owner") == "Anna Maria" && !account.hasChanges)
            #expect(try stored("Account", store, sort: "number").map { $0.text("owner") } == ["Anna Maria"])
            var value: AnyObject? = "otto" as AnyObject
            try account.validateValue(&value, forKey: "owner")
            #expect(value as? String == "Otto" && account.text("owner") == "Anna Maria")
        }
    }

    @Test func overriddenValidateValueIsAskedForEveryProperty() throws {
        try with { _, context in
            let strict = Strict(context: context)
            strict.setValue("bad", forKey: "text")
            #expect(saveError(context)?.validationKey == "text")
            #expect(Set(strict.keys) == ["text", "note"] && strict.keys.count == 2)
            strict.setValue(nil, forKey: "text")
            #expect(saveError(context)?.code.rawValue == 1570)
            strict.setValue("good", forKey: "text")
            try context.save()
        }
    }

    @Test func validateValueChecksTheModel() throws {
        try with { _, context in
            let object = thing(context)
            func code(_ value: Any?, _ key: String) -> Int? {
                var pointer = value.map { $0 as AnyObject }
                do { try object.validateValue(&pointer, forKey: key) } catch { return (error as NSError).code }
                return nil
            }
            #expect(code(5, "small") == nil && code(0, "small") == 1620 && code(nil, "small") == nil)
            #expect(code(nil, "title") == 1570 && code(NSNull(), "title") == 1570 && code("", "title") == nil)
            #expect(code("not a number", "small") == 1550 && code("not a date", "stamp") == 1650)
            #expect(code(5, "link") == 1690 && code(Date(), "stamp") == nil)
            #expect(code(Set<NSManagedObject>(), "children") == nil)
            #expect(code("anything", "no such property") == nil)
            #expect(object.value(forKey: "small") == nil)
        }
    }

    @Test func insertedAndDeletedObjectsAreNotValidated() throws {
        try with { _, context in
            let account = Account(context: context)
            account.setValue(1_000, forKey: "balance")
            context.delete(account)
            _ = Plain(context: context)
            try context.save()
            #expect(account.calls.allSatisfy { $0 == "willSave" })
        }
    }
}
