import CoreData
import Foundation
import Testing

/// Classes that say which property each of their key paths is.
final class Pupil: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let nickSlot = AttributeSlot<String?>("nick")
    private static let ageSlot = AttributeSlot<Int>("age")
    private static let heightSlot = AttributeSlot<Double>("height")
    private static let presentSlot = AttributeSlot<Bool>("isPresent")
    private static let formSlot = ToOneSlot<Form>("form")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    var nick: String? {
        get { self[Self.nickSlot] }
        set { self[Self.nickSlot] = newValue }
    }
    var age: Int {
        get { self[Self.ageSlot] }
        set { self[Self.ageSlot] = newValue }
    }
    var height: Double {
        get { self[Self.heightSlot] }
        set { self[Self.heightSlot] = newValue }
    }
    var isPresent: Bool {
        get { self[Self.presentSlot] }
        set { self[Self.presentSlot] = newValue }
    }
    var form: Form? {
        get { self[Self.formSlot] }
        set { self[Self.formSlot] = newValue }
    }
    /// Not listed.
    var isOld: Bool { age > 8 }

    override class var propertyNames: [AnyKeyPath: String] {
        [
            \Pupil.name: "name", \Pupil.nick: "nick", \Pupil.age: "age", \Pupil.height: "height",
            \Pupil.isPresent: "isPresent", \Pupil.form: "form",
        ]
    }
}

final class Form: NSManagedObject {
    private static let titleSlot = AttributeSlot<String>("title")
    private static let pupilsSlot = ToManySlot<Pupil>("pupils")

    var title: String {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var pupils: Set<Pupil> {
        get { self[Self.pupilsSlot] }
        set { self[Self.pupilsSlot] = newValue }
    }

    override class var propertyNames: [AnyKeyPath: String] { [\Form.title: "title", \Form.pupils: "pupils"] }
}

@Suite struct TypedPredicateTests {
    private static func school() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Pupil.self, Form.self)
        let pupil = GraphModel.entity("Pupil", Pupil.self)
        let form = GraphModel.entity("Form", Form.self)
        let pupils = GraphModel.relationship("pupils", to: pupil, toMany: true)
        let formOf = GraphModel.relationship("form", to: form)
        GraphModel.link(pupils, formOf)
        pupil.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("nick", .stringAttributeType),
            GraphModel.attribute("age", .integer64AttributeType), GraphModel.attribute("height", .doubleAttributeType),
            GraphModel.attribute("isPresent", .booleanAttributeType), formOf,
        ]
        form.properties = [GraphModel.attribute("title", .stringAttributeType), pupils]
        let model = NSManagedObjectModel()
        model.entities = [pupil, form]
        return model
    }

    /// Runs the body with thirty saved pupils in three forms, of which one has none.
    private func withSchool(
        _ kind: StoreKind, _ body: (NSManagedObjectContext, [Pupil], [Form]) throws -> Void
    ) throws {
        let store = try TestStore(kind, Self.school())
        let context = store.context()
        try context.performAndWait {
            let forms = (0..<4).map { number in
                let form = Form(context: context)
                form.title = "F\(number)"
                return form
            }
            let pupils = (0..<30).map { number in
                let pupil = Pupil(context: context)
                pupil.name = ["Ann", "Bob", "Cyd", "Dora Ann"][number % 4] + "\(number)"
                pupil.nick = number % 3 == 0 ? nil : "n\(number)"
                pupil.age = 6 + number % 6
                pupil.height = 1 + Double(number) / 100
                pupil.isPresent = number % 2 == 0
                pupil.form = number % 5 == 0 ? nil : forms[number % 3]
                return pupil
            }
            try context.save()
            try body(context, pupils, forms)
        }
    }

    /// The rows that the converted predicate finds must be the objects that Swift's own evaluation finds.
    private func check(
        _ predicate: Predicate<Pupil>, _ context: NSManagedObjectContext, _ pupils: [Pupil], isEmpty: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try pupils.filter { try predicate.evaluate($0) }
        let request = try NSFetchRequest<Pupil>(predicate: predicate)
        #expect(Set(try context.fetch(request)) == Set(expected), sourceLocation: sourceLocation)
        #expect(expected.isEmpty == isEmpty, sourceLocation: sourceLocation)
        #expect(expected.count < pupils.count, sourceLocation: sourceLocation)
    }

    @Test(arguments: StoreKind.allCases) func comparisonsAndLogic(_ kind: StoreKind) throws {
        try withSchool(kind) { context, pupils, _ in
            let limit = 9
            try check(#Predicate { $0.age >= limit && $0.isPresent }, context, pupils)
            try check(#Predicate { !($0.age == 7) && $0.height < 1.2 }, context, pupils)
            try check(#Predicate { $0.age * 2 + 1 > 19 || -$0.age == -6 }, context, pupils)
            try check(#Predicate { $0.age % 2 == 0 && $0.age != 8 }, context, pupils)
            try check(#Predicate { $0.age / 4 == 2 }, context, pupils)
            try check(#Predicate { (7..<9).contains($0.age) }, context, pupils)
            try check(#Predicate { (7...9).contains($0.age) }, context, pupils)
            try check(#Predicate { [6, 11].contains($0.age) }, context, pupils)
            try check(#Predicate { ($0.isPresent ? $0.age : 0) > 8 }, context, pupils)
        }
    }

    @Test(arguments: StoreKind.allCases) func stringsAndOptionals(_ kind: StoreKind) throws {
        try withSchool(kind) { context, pupils, _ in
            try check(#Predicate { $0.name.contains("Ann") }, context, pupils)
            try check(#Predicate { $0.name.starts(with: "Ann") }, context, pupils)
            try check(#Predicate { $0.name.localizedStandardContains("ÄNN1") }, context, pupils)
            try check(#Predicate { $0.nick?.localizedStandardContains("N1") == true }, context, pupils)
            try check(#Predicate { $0.nick == nil }, context, pupils)
            try check(#Predicate { $0.nick != nil }, context, pupils)
            try check(#Predicate { ($0.nick ?? "n1") == "n1" }, context, pupils)
            try check(#Predicate { $0.nick?.contains("1") == true }, context, pupils)
            try check(#Predicate { $0.name.count == 4 }, context, pupils)
            try check(#Predicate { $0.form?.title == "F1" }, context, pupils)
        }
    }

    @Test(arguments: StoreKind.allCases) func collections(_ kind: StoreKind) throws {
        try withSchool(kind) { context, _, forms in
            func found(_ predicate: Predicate<Form>) throws -> Set<String> {
                let expected = Set(try forms.filter { try predicate.evaluate($0) }.map(\.title))
                let titles = Set(try context.fetch(NSFetchRequest<Form>(predicate: predicate)).map(\.title))
                #expect(titles == expected)
                return titles
            }
            let empty = try found(#Predicate { $0.pupils.isEmpty })
            #expect(empty == ["F3"])
            let found0 = try found(#Predicate { $0.pupils.count > 7 })
            #expect(!found0.isEmpty)
            let found1 = try found(#Predicate { $0.pupils.contains { $0.name == "Bob1" } })
            #expect(!found1.isEmpty)
            let found2 = try found(#Predicate { $0.pupils.allSatisfy { $0.age < 11 } })
            #expect(!found2.isEmpty)
            let found3 = try found(#Predicate { $0.pupils.filter { $0.isPresent }.count > 3 })
            #expect(!found3.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func sortDescriptorsOfSwift(_ kind: StoreKind) throws {
        try withSchool(kind) { context, pupils, _ in
            let request = try NSFetchRequest<Pupil>(
                predicate: nil, sortBy: [SortDescriptor(\.age, order: .reverse), SortDescriptor(\.height)])
            let expected = pupils.sorted { ($1.age, $0.height) < ($0.age, $1.height) }
            #expect(try context.fetch(request) == expected)
            #expect(request.sortDescriptors?.map { $0.key } == ["age", "height"])
            // A key path without a name sorts objects.
            let unnamed = NSFetchRequest<Pupil>(entityName: "Pupil")
            unnamed.setSortDescriptors([SortDescriptor(\.name.count), SortDescriptor(\.height, order: .reverse)])
            let byCount = pupils.sorted { ($0.name.count, $1.height) < ($1.name.count, $0.height) }
            #expect(try context.fetch(unnamed) == byCount)
            // Foundation's own descriptors by key path.
            unnamed.sortDescriptors = [NSSortDescriptor(keyPath: \Pupil.height, ascending: false)]
            #expect(try context.fetch(unnamed) == pupils.sorted { $0.height > $1.height })
        }
    }

    @Test func whatHasNoCounterpartSaysWhy() throws {
        let plain = #Predicate<Pupil> { $0.age > 3 }
        #expect(NSPredicate(plain)?.formatString == "age > 3")
        let unlisted = #Predicate<Pupil> { $0.isOld }
        #expect(NSPredicate(unlisted) == nil)
        do {
            _ = try NSPredicate.converting(unlisted)
            Issue.record("no error")
        } catch let error as PredicateConversionError {
            #expect(error.description.contains("propertyNames"))
        }
    }
}
