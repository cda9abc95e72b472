import CoreData
import Foundation
import StrataService
import Testing

@Suite struct ModelBuilderTests {
    final class Novel: NSManagedObject {}

    private static let model: Result<NSManagedObjectModel, any Error> = Result {
        let created = Attribute(
            "created", .date, isOptional: false, default: Date(timeIntervalSinceReferenceDate: 7))
        let dated: [EntityMember] = [.attribute(created)]
        return try NSManagedObjectModel {
            Entity("Author", renamingIdentifier: "Writer") {
                dated
                Attribute("name", .string, isOptional: false, minimum: 1, maximum: 20, pattern: "[A-Z].*")
                Attribute("books", .integer16, default: 3, keepsValueOfDeleted: true, renamingIdentifier: "count")
                Attribute("canonical", .string, derivedFrom: "canonical:(name)")
                Attribute("size") {
                    Attribute("width", .double, default: 1.5)
                    Attribute("depth", .double)
                }
                Relationship(
                    "works", .toMany("Work", isOrdered: true, maximum: 9), inverse: "author",
                    deleteRule: .cascadeDeleteRule)
                Index("byName", "name", .descending("books"), where: NSPredicate(format: "books > 0"))
                Unique("name", "books")
            }
            Entity("Work", isAbstract: true) {
                Attribute("title", .string)
                Relationship("author", .toOne("Author"), inverse: "works", isOptional: false)
                Entity("Novel", class: Novel.self) {
                    Attribute("pages", .integer32, minimum: 1)
                    Relationship("sequel", .toOne("Novel"), inverse: "prequel")
                    Relationship("prequel", .toOne("Novel"), inverse: "sequel", deleteRule: .denyDeleteRule)
                }
                Entity("Poem", className: "NSManagedObject") {
                    for number in 1...2 { Attribute("line\(number)", .string) }
                    Unique("title")
                }
            }
        }
    }

    @Test func theDescriptionsAreWhatIsWritten() throws {
        let model = try Self.model.get()
        #expect(model.entities.map(\.name) == ["Author", "Work", "Novel", "Poem"])
        let (author, work) = (try #require(model.entitiesByName["Author"]), try #require(model.entitiesByName["Work"]))
        let novel = try #require(model.entitiesByName["Novel"])
        #expect(author.renamingIdentifier == "Writer" && !author.isAbstract && work.isAbstract)
        #expect(novel.superentity === work && work.subentities.count == 2)
        #expect(novel.managedObjectClassName.hasSuffix("ModelBuilderTests.Novel"))
        let name = try #require(author.attributesByName["name"])
        #expect(!name.isOptional && name.attributeType == .stringAttributeType && name.validationPredicates.count == 3)
        let books = try #require(author.attributesByName["books"])
        #expect(books.defaultValue as? Int == 3 && books.preservesValueInHistoryOnDeletion)
        #expect(books.renamingIdentifier == "count" && books.isOptional)
        #expect(author.attributesByName["created"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 7))
        #expect((author.attributesByName["canonical"] as? NSDerivedAttributeDescription)?.derivationExpression != nil)
        let size = try #require(author.attributesByName["size"] as? NSCompositeAttributeDescription)
        #expect(size.elements.map(\.name) == ["width", "depth"] && size.elements[0].defaultValue as? Double == 1.5)
        let works = try #require(author.relationshipsByName["works"])
        #expect(works.isToMany && works.isOrdered && works.maxCount == 9 && works.deleteRule == .cascadeDeleteRule)
        #expect(works.inverseRelationship === work.relationshipsByName["author"])
        let back = try #require(work.relationshipsByName["author"])
        #expect(!back.isToMany && !back.isOptional && back.minCount == 1 && back.inverseRelationship === works)
        let index = try #require(author.indexes.first)
        #expect(index.elements.map(\.propertyName) == ["name", "books"])
        #expect(index.elements.map(\.isAscending) == [true, false] && index.partialIndexPredicate != nil)
        #expect(author.uniquenessConstraints as? [[String]] == [["name", "books"]])
        #expect(model.entitiesByName["Poem"]?.attributesByName.keys.sorted() == ["line1", "line2", "title"])
    }

    /// The model is the one that a store is opened with: rules, limits and classes are in force.
    @Test func aStoreKeepsToIt() async throws {
        let container = NSPersistentContainer(name: "Works", managedObjectModel: try Self.model.get())
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        try await container.performBackgroundTask { context in
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Le Guin", forKey: "name")
            let novel = NSEntityDescription.insertNewObject(forEntityName: "Novel", into: context)
            #expect(novel is Novel)
            novel.setValue(author, forKey: "author")
            novel.setValue(0, forKey: "pages")
            let tooSmall = #expect(throws: CocoaError.self) { try context.save() }
            #expect(tooSmall?.code.rawValue == NSValidationNumberTooSmallError)
            novel.setValue(300, forKey: "pages")
            try context.save()
            #expect((author.value(forKey: "works") as? NSOrderedSet)?.count == 1)
            #expect(author.value(forKey: "canonical") as? String == "le guin")
            context.delete(author)
            try context.save()
            #expect(try context.count(for: ServiceFixture.Request(entityName: "Work")) == 0)
        }
    }

    // MARK: Errors

    private static func message(@ModelBuilder _ entities: () throws -> [Entity]) -> String {
        let error = #expect(throws: ModelError.self) { try NSManagedObjectModel(entities) }
        #expect(error?.code == .invalidModel)
        return error?.message ?? ""
    }

    private static func entity(_ name: String = "A", @EntityBuilder _ members: () -> [EntityMember]) -> Entity {
        Entity(name, members: members)
    }

    @Test(
        arguments: [
            (Relationship("b", .toOne("B"), inverse: "x"), "the inverse of A.b, B.x, does not exist"),
            (Relationship("b", .toOne("B"), inverse: "name"), "the inverse of A.b, B.name, is no relationship"),
            (
                Relationship("b", .toOne("B"), inverse: "others"),
                "the inverse of A.b is B.others, whose own inverse is A.c"
            ),
            (
                Relationship("b", .toOne("B"), inverse: "lone"),
                "the inverse of A.b is B.lone, whose own inverse is none"
            ),
            (Relationship("b", .toOne("B"), inverse: "bs"), "the inverse of A.b, B.bs, leads to B"),
            (Relationship("b", .toOne("C"), inverse: nil), "A.b leads to C, which is no entity"),
            (Relationship("b", .toMany("B", minimum: 3, maximum: 2), inverse: nil), "A.b has from 3 to 2 objects"),
            (Relationship("b", .toMany("B", maximum: 1), inverse: nil), "A.b is to-many and has one object at most"),
            (Relationship("b.c", .toOne("B"), inverse: nil), "A.b.c is no name"),
        ] as [(Relationship, String)])
    func relationshipsThatLeadNowhereAreNamed(_ relationship: Relationship, _ expected: String) {
        let message = Self.message {
            Self.entity {
                relationship
                Relationship("c", .toOne("B"), inverse: "others")
            }
            Self.entity("B") {
                Attribute("name", .string)
                Relationship("others", .toMany("A"), inverse: "c")
                Relationship("lone", .toOne("A"), inverse: nil)
                Relationship("bs", .toMany("B"), inverse: "b")
                Relationship("back", .toOne("B"), inverse: nil)
            }
        }
        #expect(message.contains(expected), "\(message)")
    }

    @Test(
        arguments: [
            (Attribute("a", .integer16, default: 40_000), "the default value of A.a has no room in 16 bits: 40000"),
            (Attribute("a", .integer32, default: -1 << 31 - 1), "the default value of A.a has no room in 32 bits"),
            (Attribute("a", .string, default: 1), "the default value of A.a is of another type: Int"),
            (Attribute("a", .boolean, default: 2), "the default value of A.a is neither true nor false"),
            (Attribute("a", .uuid, default: "x"), "the default value of A.a is of another type: String"),
            (Attribute("a", .string, maximum: "x"), "the maximum of A.a is a text's length"),
            (Attribute("a", .date, minimum: 3), "the minimum of A.a is of another type: Int"),
            (Attribute("a", .binaryData, minimum: 3), "A.a has a minimum, which its type has no order for"),
            (Attribute("a", .double, pattern: "x"), "A.a has a pattern and is no text"),
            (Attribute("a", .string, pattern: "("), "the pattern of A.a is no regular expression"),
            (Attribute("a", .undefined), "A.a has no type and is not transient"),
            (Attribute("a", .objectID), "A.a is of a type that is for results"),
            (Attribute("a", .string, transformer: "T"), "A.a has a transformer and is not transformable"),
            (Attribute("a", .string, derivedFrom: "canonical:("), "A.a is derived from \"canonical:(\""),
            (Attribute("", .string), "A. is no name"),
            (Attribute("1a", .string), "A.1a is no name"),
            (Attribute("a") { Attribute("x y", .string) }, "A.a.x y is no name"),
            (Attribute("a") {}, "A.a is composite and has no elements"),
            (Attribute("b", .string), "A has two properties named b"),
        ] as [(Attribute, String)])
    func attributesThatMakeNoSenseAreNamed(_ attribute: Attribute, _ expected: String) {
        let message = Self.message {
            Self.entity {
                attribute
                Attribute("b", .string)
            }
        }
        #expect(message.contains(expected), "\(message)")
    }

    @Test func everyProblemIsNamedAtOnce() {
        let message = Self.message {
            Entity("A") {
                Attribute("a", .string, isTransient: true)
                Relationship("all", .toMany("A"), inverse: nil)
                Index("i", "a", "x")
                Index("i", "all")
                Index("empty")
                Unique("y")
                Unique("b", "b")
                Attribute("b", .string)
                Unique()
                Entity("Sub") { Attribute("b", .integer16) }
            }
            Entity("A")
            Entity("no name")
        }
        for expected in [
            "two entities are named A", "\"no name\" is no name", "the index i of A names a, which is transient",
            "the index i of A names x, which is no property", "A has two indexes named i",
            "the index i of A names all, which is a to-many relationship", "the index empty of A is empty",
            "a constraint of A names y, which is no property", "a constraint of A names a property twice",
            "a constraint of A is empty", "Sub has two properties named b, inherited ones counted",
        ] {
            #expect(message.contains(expected), "\(expected): \(message)")
        }
    }
}
