import Foundation
import Testing

@testable import StrataSourceTools

/// The generator, with the toolchain's compiler.
@Suite struct AccessorGeneratorTests {
    /// The symbols that a generated text defines.
    private func symbols(_ text: String) -> Set<String> {
        Set(text.split(separator: "@_silgen_name(\"").dropFirst().map { String($0.prefix { $0 != "\"" }) })
    }

    /// Types of descriptions and expressions are declared in another module than managed objects: the compiler asks for
    /// symbols with that module's name, and `SchemaModuleTests` says that the types are there.
    @Test func symbolsNameTheModuleThatDeclaresAPropertysType() throws {
        let fixture = try SourceFixture([
            (
                "Place.swift",
                """
                import CoreData
                class Place: NSManagedObject {
                    @NSManaged var entry: NSEntityDescription?
                    @NSManaged var model: NSManagedObjectModel?
                    @NSManaged var kind: NSAttributeDescription?
                    @NSManaged var formula: NSExpression?
                    @NSManaged var test: NSComparisonPredicate?
                    @NSManaged var origin: NSManagedObjectID?
                }
                """
            )
        ])
        let output = try fixture.generator().generate()
        #expect(output.problems == [])
        let setters = symbols(output.text).filter { $0.hasSuffix("vs") }
        #expect(
            setters == [
                "$s3Mod5PlaceC5entry12StrataSchema19NSEntityDescriptionCSgvs",
                "$s3Mod5PlaceC5model12StrataSchema20NSManagedObjectModelCSgvs",
                "$s3Mod5PlaceC4kind12StrataSchema22NSAttributeDescriptionCSgvs",
                "$s3Mod5PlaceC7formula12StrataSchema12NSExpressionCSgvs",
                "$s3Mod5PlaceC4test12StrataSchema21NSComparisonPredicateCSgvs",
                "$s3Mod5PlaceC6origin10StrataRows17NSManagedObjectIDCSgvs",
            ])
    }

    @Test func theSymbolsAreThoseThatTheCompilerAsksFor() throws {
        let fixture = try SourceFixture([
            (
                "Book.swift",
                """
                import CoreData
                public class Book: NSManagedObject {
                    @NSManaged public var title: String, pages: Int
                    @NSManaged private var secret: [String: Set<UUID>]?
                    @NSManaged var date, other: Date?
                    @NSManaged var kind: Kind!
                    @NSManaged func addToBooks(_ value: Book)
                    @NSManaged func insertIntoBooks(_ values: [Book], at indexes: NSIndexSet)
                    class Page: NSManagedObject { @NSManaged var book: Book; @NSManaged var `class`: Kind }
                    enum Kind: Int { case a }
                    func use() {
                        title = title; pages += 1; secret = secret; date = date; other = other; kind = kind
                        addToBooks(self); insertIntoBooks([self], at: NSIndexSet())
                    }
                }
                """
            ),
            (
                "Use.swift",
                """
                import CoreData
                extension Book {
                    @NSManaged fileprivate var loans: Set<Book>?
                    func lend() { loans = loans }
                }
                class Generic<T>: NSManagedObject { @NSManaged var value: T }
                func use(_ page: Book.Page, _ any: Generic<Int>) {
                    page.book = page.book; page.class = page.class; any.value = any.value
                }
                """
            ),
        ])
        let output = try fixture.generator().generate()
        #expect(output.problems == [])
        // What functions call that no function of the module is.
        let frontend = try SwiftFrontend()
        let result = fixture.directory.appendingPathComponent("sil")
        let stubs = fixture.work.appendingPathComponent("modules").path
        let outcome = try frontend.run(
            ["-emit-silgen", "-module-name", "Mod", "-I", stubs, "-parse-as-library", "-o", result.path] + fixture.paths
        )
        #expect(outcome.status == 0, "\(outcome.messages)")
        let sil = try String(contentsOf: result, encoding: .utf8)
        let called = Set(
            sil.split(separator: "_ref @").dropFirst().map { String($0.prefix { $0 != " " }) }
                .filter { $0.hasPrefix("$s3Mod") })
        let defined = Set(
            sil.split(separator: "\nsil ").dropFirst().compactMap { function -> String? in
                let head = function.prefix { $0 != "\n" }
                guard head.hasSuffix("{"), let name = head.split(separator: "@").dropFirst().first else { return nil }
                return String(name.prefix { $0 != " " })
            })
        let missing = called.subtracting(defined)
        #expect(missing.count >= 20)
        #expect(missing.subtracting(symbols(output.text)).isEmpty)
    }

    @Test func typesAreWrittenAsTheGeneratedFileSeesThem() throws {
        let fixture = try SourceFixture([
            (
                "Shop.swift",
                """
                public import CoreData
                enum Shop {
                    enum Kind: Int { case a }
                    class Item: NSManagedObject {
                        enum Own: Int { case b }
                        @NSManaged var kind: Kind?
                        @NSManaged var own: [Own]
                        @NSManaged var kinds: Set<Kind>
                    }
                }
                """
            )
        ])
        let text = try fixture.generator().generate().text
        #expect(text.contains("public import CoreData\n"))
        for type in ["Shop.Kind?", "[Own]", "Set<Shop.Kind>"] { #expect(text.contains("() -> \(type) {")) }
        #expect(text.contains("extension Shop.Item {"))
    }

    @Test func conditionsOfDebugBuildsAreKept() throws {
        let fixture = try SourceFixture([
            (
                "Book.swift",
                """
                import CoreData
                class Book: NSManagedObject {
                    #if DEBUG
                    @NSManaged var traced: Bool
                    #elseif os(Linux)
                    @NSManaged var plain: Bool
                    #endif
                    #if EXTRA
                    @NSManaged var extra: Bool
                    #endif
                }
                """
            )
        ])
        var generator = fixture.generator()
        let text = try generator.generate().text
        let parts = text.components(separatedBy: "#else\n")
        #expect(parts.count == 2)
        #expect(parts[0].hasPrefix("#if DEBUG\n") && parts[0].contains("traced") && !parts[0].contains("plain"))
        #expect(parts.last?.contains("plain") == true && parts.last?.contains("traced") == false)
        #expect(!text.contains("extra"))
        generator.conditions = ["EXTRA"]
        #expect(try generator.generate().text.contains("extra"))
    }

    @Test func typesOfOtherModulesAreFoundInTheirSources() throws {
        let fixture = try SourceFixture([
            (
                "Book.swift",
                """
                import Shared
                class Book: Base { @NSManaged var money: Money; @NSManaged var kind: Alias?; @NSManaged var all: Set<Book> }
                """
            )
        ])
        let shared = try fixture.write(
            "Shared.swift",
            """
            @_exported import CoreData
            import Elsewhere
            open class Base: NSManagedObject {}
            public struct Money { public var unknown: Elsewhere.Thing }
            public enum Kind { case a }
            public typealias Alias = Kind
            """)
        var generator = fixture.generator()
        #expect(try generator.generate().problems.count >= 2)
        generator.dependencies = [Dependency(name: "Shared", sources: [shared])]
        let output = try generator.generate()
        #expect(output.problems == [])
        #expect(
            symbols(output.text).isSuperset(of: [
                "$s3Mod4BookC5money6Shared5MoneyVvg", "$s3Mod4BookC4kind6Shared4KindOSgvs",
                "$s3Mod4BookC3allShyACGvg",
            ]))
    }

    @Test(arguments: [
        ("private class Book: NSManagedObject { @NSManaged var title: String }", "private"),
        (
            "class Book: NSManagedObject { @NSManaged fileprivate var kind: Kind }; private enum Kind { case a }",
            "private"
        ),
        ("class Book: NSManagedObject { @NSManaged var money: Money }", "does not find a type"),
        ("class Book: NSObject { @NSManaged var title: String }", "does not inherit NSManagedObject"),
        ("class Book: NSManagedObject { @NSManaged func fetchRelated(_ book: Book) }", "no method like"),
        ("class Book: NSManagedObject { @NSManaged func addToBooks(_ book: Book) -> Bool }", "no method like"),
        (
            "class Book: NSManagedObject { @NSManaged var a: Int\n"
                + "private func validateA(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {} }",
            "must not be private"
        ),
    ])
    func whatCannotBeDoneIsSaidAtTheDeclaration(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("Book.swift", "import CoreData\n\n\(text)\n")])
        let problem = try #require(try fixture.generator().generate().problems.first)
        #expect(problem.message.contains(expected))
        #expect(problem.path == fixture.paths[0])
        #expect(problem.line >= 3)
        #expect("\(problem)".hasPrefix("\(problem.path):\(problem.line):\(problem.column): error: "))
    }

    @Test func theTableNamesWhatIsFoundByName() throws {
        let fixture = try SourceFixture([
            (
                "Book.swift",
                """
                import CoreData
                class Base: NSManagedObject { @NSManaged var id: NSNumber? }
                class Book: Base {
                    @NSManaged var title: String
                    @NSManaged var weight: Double
                    @NSManaged private var secret: NSNumber?
                    func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
                    func validateTitle(_ value: String) throws {}
                    class func keyPathsForValuesAffectingShout() -> Set<String> { ["title"] }
                    static var keyPathsForValuesAffectingLoud: Set<String> { ["title"] }
                    class func keyPathsForValuesAffectingNothing(_ key: String) -> Set<String> { [] }
                    class func keyPathsForValuesAffectingNobody() -> [String] { [] }
                    private class func keyPathsForValuesAffectingSecret() -> Set<String> { [] }
                    private var hidden = 1
                    static var shared = 1
                    var loaded: Int { get async throws { 1 } }
                    override var description: String { "" }
                }
                """
            ),
            ("More.swift", "import Foundation\nextension Book { var shout: String { title.uppercased() } }\n"),
            ("Other.swift", "struct Other { var book: Book }\n"),
        ])
        let text = try fixture.generator().generate().text
        let table = try #require(text.components(separatedBy: "classes.add(Book.self)").last)
        for line in [
            "type.name(\\Book.`id`, \"id\")", "type.name(\\Book.`weight`, \"weight\")", "type.validate(\"title\")",
            "type.depends(\"shout\") { Book.keyPathsForValuesAffectingShout() }",
            "type.depends(\"loud\") { Book.keyPathsForValuesAffectingLoud }",
        ] {
            #expect(table.contains(line))
        }
        #expect(table.contains("type.accessor(\"shout\", \\Book.`shout`)"))
        for name in ["Nothing", "Nobody", "Secret", "secret", "hidden", "shared", "loaded", "description"] {
            #expect(!table.contains(name))
        }
    }

    @Test func aTargetWithoutManagedObjectsGetsNothing() throws {
        let fixture = try SourceFixture([("Main.swift", "print(1)\n")])
        let output = try fixture.generator().generate()
        #expect(output.problems == [])
        #expect(output.text.split(separator: "\n").count == 1)
    }
}
