import CoreData
import Foundation
import StrataLog
import Testing

/// Errors name what they are about, and no log gets users' data by printing them.
struct ErrorTextTests {
    private static let secret = "Hunter2"

    /// How programs print errors.
    private static func printed(_ error: any Error) -> [String] {
        var texts = ["\(error)", String(describing: error), String(reflecting: error), "\(error as NSError)"]
        if let error = error as? CocoaError { texts += ["\(error)", "\(error as NSError)", "\([error])"] }
        return texts
    }

    private static func check(_ error: any Error, code: Int, says parts: String...) {
        #expect((error as NSError).code == code)
        for part in parts { #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)") }
        #expect(!error.localizedDescription.contains(secret))
        for text in printed(error) {
            #expect(!text.contains("(null)") && !text.contains(secret), "\(text)")
            #expect(text.hasPrefix("[") || text.hasPrefix("Error Domain=NSCocoaErrorDomain Code=\(code) \""), "\(text)")
        }
    }

    /// Warnings are parallel to predicates: one without a message of its own was an error without a text.
    @Test(arguments: [[], [""]] as [[String]])
    func aFailedPredicateNamesEntityAndProperty(_ warnings: [String]) throws {
        let entity = GraphModel.entity("Thing")
        let (name, other) = (
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("other", .stringAttributeType)
        )
        for attribute in [name, other] {
            attribute.setValidationPredicates(
                [NSPredicate(format: "SELF BEGINSWITH 'x'")], withValidationWarnings: warnings)
        }
        entity.properties = [name, other]
        let store = try TestStore(.memory, makeModel([entity]))
        let context = store.context()
        try context.performAndWait {
            let object = NSManagedObject(entity: entity, insertInto: context)
            object.setValue(Self.secret, forKey: "name")
            Self.check(try Self.error { try context.save() }, code: 1550, says: "Thing.name is not valid", "BEGINSWITH")
            object.setValue(Self.secret, forKey: "other")
            Self.check(
                try Self.error { try context.save() }, code: 1560, says: "Multiple validation errors occurred.",
                "Thing.name is not valid", "Thing.other is not valid")
        }
    }

    private static func error(_ body: () throws -> Void) throws -> any Error {
        do { try body() } catch { return error }
        throw CocoaError(.featureUnsupported)
    }

    private static func model() throws -> NSManagedObjectModel {
        let model = GraphModel.company()
        let employee = try #require(model.entitiesByName["Employee"])
        employee.attributesByName["age"]?.setBounds(minimum: 1, maximum: 120)
        employee.attributesByName["name"]?.setBounds(minimum: nil, maximum: 10, pattern: "[A-Za-z0-9]*")
        employee.uniquenessConstraints = [["name"]]
        model.entitiesByName["Department"]?.relationshipsByName["employees"]?.maxCount = 1000
        return model
    }

    @Test(arguments: StoreKind.allCases) func validationNamesEntityPropertyBoundAndValue(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try Self.model())
        let context = store.context()
        try context.performAndWait {
            let object = Employee(context: context)
            (object.name, object.age) = (Self.secret, 31_337)
            let age = try Self.error { try context.save() }
            Self.check(age, code: 1610, says: "Employee.age is too large", "it is 31337", "the maximum is 120")
            #expect(!"\(age)".contains("31337") && "\(age)".contains("the maximum is 120"))
            let info = (age as NSError).userInfo
            #expect(info[NSValidationValueErrorKey] as? Int == 31_337)
            #expect(info[NSValidationKeyErrorKey] as? String == "age")
            #expect(info[NSValidationObjectErrorKey] as? Employee === object)
            object.age = 20
            object.name = Self.secret + Self.secret
            let name = try Self.error { try context.save() }
            Self.check(name, code: 1660, says: "Employee.name is too long", "it has 14", "maximum is 10 characters")
            #expect((name as? CocoaError)?.validationValue as? String == Self.secret + Self.secret)
            object.name = "a b"
            Self.check(
                try Self.error { try context.save() }, code: 1680, says: "Employee.name",
                "match the pattern [A-Za-z0-9]*")
            object.name = Self.secret
            let badge = make("Badge", context)
            let missing = try Self.error { try context.save() }
            Self.check(missing, code: 1570, says: "Badge.number is a required value")
            object.age = 0
            let several = try Self.error { try context.save() }
            Self.check(several, code: 1560, says: "Badge.number is a required value", "Employee.age is too small")
            let details = (several as NSError).userInfo[NSDetailedErrorsKey] as? [NSError]
            #expect(details?.count == 2 && details?.allSatisfy { !"\($0)".contains("(null)") } == true)
            context.delete(badge)
            let value = try Self.error { try object.validateForUpdate() }
            Self.check(value, code: 1620, says: "Employee.age is too small", "it is 0")
        }
    }

    @Test(arguments: StoreKind.allCases) func conflictsNameObjectsAndProperties(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try Self.model())
        let (one, other) = (store.context(), store.context())
        try one.performAndWait {
            Employee(context: one).name = "first"
            try one.save()
        }
        try other.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.returnsObjectsAsFaults = false
            let mine = try #require(try other.fetch(request).first)
            try one.performAndWait {
                let theirs = try #require(try one.fetch(NSFetchRequest<Employee>(entityName: "Employee")).first)
                (theirs.name, theirs.age) = (Self.secret, 99)
                try one.save()
            }
            mine.age = 50
            let conflict = try Self.error { try other.save() }
            Self.check(
                conflict, code: 133020, says: "Could not merge changes.", "Employee x-coredata://",
                ": age, name has been changed")
            #expect((conflict as? CocoaError)?.persistentStoreSaveConflicts?.first?.sourceObject === mine)
            other.rollback()
            Employee(context: other).name = Self.secret
            let constraint = try Self.error { try other.save() }
            Self.check(constraint, code: 133021, says: "Employee: name must be unique", "x-coredata://")
        }
    }

    @Test func errorsOfStoresNameThePlace() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-none-\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        for type in [NSSQLiteStoreType, NSBinaryStoreType] {
            let error = try Self.error {
                _ = try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: url, options: options)
            }
            Self.check(error, code: 260, says: url.path)
        }
        let none = try Self.error {
            _ = try coordinator.addPersistentStore(
                ofType: "Nothing", configurationName: nil, at: url, options: nil)
        }
        Self.check(none, code: 134000, says: "Nothing")
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let object = make("Department", context)
            object.setValue(Self.secret, forKey: "title")
            try context.save()
            let id = object.objectID
            context.delete(object)
            try context.save()
            Self.check(
                try Self.error { _ = try context.existingObject(with: id) }, code: 133000, says: "Department")
        }
    }

    @Test(arguments: StoreKind.allCases) func batchErrorsCarryNoValues(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["age": Self.secret]])
            Self.check(
                try Self.error { _ = try context.execute(insert) }, code: 134070, says: "Employee.age", "String")
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.propertiesToUpdate = ["nmae": Self.secret]
            Self.check(try Self.error { _ = try context.execute(update) }, code: 134070, says: "did you mean \"name\"?")
        }
    }

    /// It said only which type the error is of, and a number.
    @Test func theEnginesErrorsDescribeThemselves() {
        let error = StoreError(.corruption, "a block is damaged", path: "/store", segment: 3, offset: 64)
        #expect(error.localizedDescription == error.description)
        #expect(error.localizedDescription == "a block is damaged (/store) [segment 3, offset 64]")
    }

    /// A request in a predicate that makes no sense was as good as one that finds nothing.
    @Test func requestsInPredicatesThatMakeNoSenseThrow() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let foreign = NSFetchRequest<any NSFetchRequestResult>(entityName: "Departmant")
            for inner in [foreign, "no request"] as [Any] {
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                request.predicate = NSComparisonPredicate(
                    leftExpression: NSFetchRequestExpression.expression(
                        forFetch: NSExpression(forConstantValue: inner),
                        context: NSExpression(forConstantValue: context), countOnly: false),
                    rightExpression: NSExpression(forConstantValue: nil), modifier: .direct, type: .equalTo)
                Employee(context: context).name = "Ann"
                #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(throws: CocoaError.self) { try context.count(for: request) }
            }
        }
    }
}
