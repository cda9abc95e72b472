import CoreData
import Foundation
import Testing

// Classes with accessors written by hand over primitive values, as the programming guide shows them: defaults at
// insertion, a transient name, times kept by willSave, an enumeration, validation between properties.

private class AccessorAccount: NSManagedObject {
    enum Kind: Int16 { case free, paid }

    static let deletions = LockedBox<[String]>([])

    var firstName: String? {
        get {
            willAccessValue(forKey: "firstName")
            defer { didAccessValue(forKey: "firstName") }
            return primitiveValue(forKey: "firstName") as? String
        }
        set {
            willChangeValue(forKey: "firstName")
            setPrimitiveValue(newValue, forKey: "firstName")
            didChangeValue(forKey: "firstName")
            setPrimitiveValue(nil, forKey: "fullName")
        }
    }
    var lastName: String? {
        get { value(forKey: "lastName") as? String }
        set {
            setValue(newValue, forKey: "lastName")
            setPrimitiveValue(nil, forKey: "fullName")
        }
    }
    /// Transient, kept until one of its parts changes.
    var fullName: String {
        willAccessValue(forKey: "fullName")
        defer { didAccessValue(forKey: "fullName") }
        if let cached = primitiveValue(forKey: "fullName") as? String { return cached }
        let made = [firstName, lastName].compactMap { $0 }.joined(separator: " ")
        setPrimitiveValue(made, forKey: "fullName")
        return made
    }
    var kind: Kind {
        get {
            willAccessValue(forKey: "kind")
            defer { didAccessValue(forKey: "kind") }
            return (primitiveValue(forKey: "kind") as? NSNumber).flatMap { Kind(rawValue: $0.int16Value) } ?? .free
        }
        set {
            willChangeValue(forKey: "kind")
            defer { didChangeValue(forKey: "kind") }
            setPrimitiveValue(newValue.rawValue, forKey: "kind")
        }
    }
    var created: Date? { value(forKey: "created") as? Date }
    var modified: Date? { value(forKey: "modified") as? Date }
    var balance: NSDecimalNumber? {
        get { value(forKey: "balance") as? NSDecimalNumber }
        set { setValue(newValue, forKey: "balance") }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "created")
    }

    override func willSave() {
        super.willSave()
        guard !isDeleted, changedValues()["modified"] == nil, hasPersistentChangedValues else { return }
        setPrimitiveValue(Date(), forKey: "modified")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        let name = fullName
        Self.deletions.change { $0.append(name) }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try validateBalance()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validateBalance()
    }

    private func validateBalance() throws {
        guard kind == .free, let balance, balance.compare(NSDecimalNumber.zero) == .orderedDescending else { return }
        throw NSError(
            domain: "AccessorClient", code: 42,
            userInfo: [
                NSLocalizedDescriptionKey: "Free accounts have no balance.", NSValidationObjectErrorKey: self,
                NSValidationKeyErrorKey: "balance",
            ])
    }
}

@Suite(.serialized) struct AccessorClientTests {
    private static var model: NSManagedObjectModel {
        let account = GraphModel.entity("AccessorAccount", AccessorAccount.self)
        let fullName = GraphModel.attribute("fullName", .stringAttributeType)
        fullName.isTransient = true
        account.properties = [
            GraphModel.attribute("firstName", .stringAttributeType),
            GraphModel.attribute("lastName", .stringAttributeType), fullName,
            GraphModel.attribute("kind", .integer16AttributeType, default: 0),
            GraphModel.attribute("created", .dateAttributeType), GraphModel.attribute("modified", .dateAttributeType),
            GraphModel.attribute("balance", .decimalAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [account]
        return model
    }

    @Test(arguments: StoreKind.allCases)
    func accessorsByHandWork(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let account = AccessorAccount(context: context)
            #expect(account.created == Date(timeIntervalSinceReferenceDate: 1))
            account.firstName = "Ada"
            account.lastName = "King"
            #expect(account.fullName == "Ada King")
            account.kind = .paid
            account.balance = NSDecimalNumber(string: "12.50")
            try context.save()
            #expect(account.modified != nil)
            account.lastName = "Lovelace"
            #expect(account.fullName == "Ada Lovelace")
            context.refresh(account, mergeChanges: false)
            #expect(account.isFault)
            #expect(account.fullName == "Ada King" && !account.isFault)
            #expect(account.kind == .paid && account.balance == NSDecimalNumber(string: "12.5"))
            #expect(!account.hasChanges)
        }
    }

    @Test func whatWillSaveSetsIsSavedOnce() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        try context.performAndWait {
            let account = AccessorAccount(context: context)
            account.firstName = "Grace"
            try context.save()
            let first = try #require(account.modified)
            // Nothing persistent differs: no new time.
            account.firstName = "Grace"
            #expect(account.isUpdated && !account.hasPersistentChangedValues)
            try context.save()
            #expect(account.modified == first)
            account.firstName = "G."
            try context.save()
            #expect(try #require(account.modified) > first)
            #expect(!context.hasChanges)
        }
    }

    @Test func validationLooksAcrossProperties() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        try context.performAndWait {
            let account = AccessorAccount(context: context)
            account.balance = 5
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == 42 && error?.domain == "AccessorClient")
            account.kind = .paid
            try context.save()
            account.kind = .free
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
            #expect(account.kind == .paid)
        }
    }

    @Test func deletionIsAnnouncedWithValues() throws {
        let store = try TestStore(.log, Self.model)
        let context = store.context()
        AccessorAccount.deletions.change { $0 = [] }
        try context.performAndWait {
            let account = AccessorAccount(context: context)
            account.firstName = "Kurt"
            try context.save()
            context.refreshAllObjects()
            context.delete(account)
            #expect(AccessorAccount.deletions.value == ["Kurt"])
            try context.save()
            #expect(account.managedObjectContext == nil)
        }
    }
}
