import CoreData
import Foundation
import Testing

/// A model's localization dictionary translates what validation tells a user.
@Suite struct LocalizedValidationTests {
    private static func model() throws -> NSManagedObjectModel {
        let model = GraphModel.company()
        let employee = try #require(model.entitiesByName["Employee"])
        employee.attributesByName["age"]?.setBounds(minimum: 1, maximum: 120)
        employee.attributesByName["name"]?.setValidationPredicates(
            [NSPredicate(format: "length > 0")], withValidationWarnings: ["A name is missing"])
        model.entitiesByName["Badge"]?.attributesByName["number"]?.isOptional = false
        return model
    }

    /// What the error of a save says to a user and to a log, in a context or in its child.
    private static func texts(
        _ translations: [String: String]?, isChild: Bool, _ make: (NSManagedObjectContext) -> Void
    ) throws -> (description: String, reason: String) {
        let model = try model()
        model.localizationDictionary = translations
        let store = try TestStore(.memory, model)
        let root = store.context()
        let context = isChild ? ContextLine.child(of: root) : root
        return try context.performAndWait {
            make(context)
            do {
                try context.save()
            } catch {
                return (error.localizedDescription, (error as NSError).localizedFailureReason ?? "")
            }
            throw CocoaError(.featureUnsupported)
        }
    }

    private static func employee(_ context: NSManagedObjectContext, _ name: String = "Ada", age: Int16 = 18) {
        let employee = Employee(context: context)
        (employee.name, employee.age) = (name, age)
    }

    @Test(arguments: [false, true]) func namesAreTranslated(_ isChild: Bool) throws {
        let young = { (context: NSManagedObjectContext) in Self.employee(context, age: 0) }
        let plain = try Self.texts(nil, isChild: isChild, young)
        #expect(plain.description.hasPrefix("Employee.age is too small"))
        let both = try Self.texts(
            ["Entity/Employee": "Angestellte", "Property/age": "Alter"], isChild: isChild, young)
        #expect(both.description.hasPrefix("Angestellte.Alter is too small"))
        // A log is read by those who know the model.
        #expect(both.reason == plain.reason && plain.reason.hasPrefix("Employee.age is too small"))
        let narrow = try Self.texts(
            ["Property/age": "Alter", "Property/age/Entity/Employee": "Lebensalter"], isChild: isChild, young)
        #expect(narrow.description.hasPrefix("Employee.Lebensalter is too small"))
        let other = try Self.texts(["Property/age/Entity/Badge": "x", "Entity/Badge": "y"], isChild: isChild, young)
        #expect(other.description == plain.description)
        let missing = try Self.texts(["Property/number": "Nummer", "Entity/Badge": "Ausweis"], isChild: isChild) {
            _ = make("Badge", $0)
        }
        #expect(missing.description == "Ausweis.Nummer is a required value.")
    }

    /// A property has the name that its own entity, or the nearest that it inherits from, gives it.
    @Test(arguments: [false, true]) func namesAreInherited(_ isChild: Bool) throws {
        let young = { (context: NSManagedObjectContext) in Manager(context: context).age = 0 }
        let inherited = try Self.texts(
            ["Property/age/Entity/Employee": "Lebensalter", "Property/age": "Alter"], isChild: isChild, young)
        #expect(inherited.description.contains("Manager.Lebensalter is too small"))
        let own = try Self.texts(
            ["Property/age/Entity/Employee": "x", "Property/age/Entity/Manager": "Dienstalter"], isChild: isChild, young
        )
        #expect(own.description.contains("Manager.Dienstalter is too small"))
    }

    @Test(arguments: [false, true]) func messagesAreTranslated(_ isChild: Bool) throws {
        let nameless = { (context: NSManagedObjectContext) in Self.employee(context, "") }
        let plain = try Self.texts(["ErrorString/Other": "x"], isChild: isChild, nameless)
        #expect(plain.description == "A name is missing")
        let translated = try Self.texts(
            ["ErrorString/A name is missing": "Der Name fehlt", "Entity/Employee": "x"], isChild: isChild, nameless)
        #expect(translated.description == "Der Name fehlt")
        #expect(translated.reason == plain.reason && plain.reason == "Employee.name: A name is missing")
        let both = try Self.texts(
            ["ErrorString/A name is missing": "Der Name fehlt", "Property/age": "Alter"], isChild: isChild
        ) { Self.employee($0, "", age: 0) }
        #expect(both.description.contains("Der Name fehlt") && both.description.contains("Employee.Alter is too small"))
    }

    /// The dictionary may be set once the model is in use.
    @Test func itMayBeSetLater() throws {
        let model = try Self.model()
        let store = try TestStore(.memory, model)
        let context = store.context()
        context.performAndWait {
            Self.employee(context, age: 0)
            #expect { try context.save() } throws: { $0.localizedDescription.hasPrefix("Employee.age") }
            context.persistentStoreCoordinator?.managedObjectModel.localizationDictionary = ["Property/age": "Alter"]
            #expect { try context.save() } throws: { $0.localizedDescription.hasPrefix("Employee.Alter") }
        }
    }
}
