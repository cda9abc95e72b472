import Foundation
import Testing

@testable import StrataSourceTools

/// Porting, with the toolchain's compiler.
@Suite struct SourcePorterTests {
    private static let book = """
        import Foundation
        import CoreData.NSManagedObject

        // @objc(Comment) #keyPath(Book.title)
        @objc(XYZBook)
        public class Book: NSManagedObject {
            @objc dynamic var shout: String { "@objc as! NSFetchRequest<Book>" }
            @NSManaged public var title: String?
            @NSManaged public var author: Author?

            func find() throws {
                let request = Self.fetchRequest() as! NSFetchRequest<Book>
                request.sort(#keyPath(Book.author.name), #keyPath(title), #keyPath(Book.nothing))
                observe(#selector(find))
                request.addObserver(self, forKeyPath: "x", options: [], context: nil)
            }
        }

        extension Book {
            @objc(addAuthorsObject:) @NSManaged public func addToAuthors(_ value: Author)
        }

        """
    private static let author = """
        import CoreData
        @objc(Author) public class Author: NSManagedObject {
            @NSManaged public var name: String?
        }

        """
    private static let more = """
        import CoreData

        public extension Book {
            /// Called once.
            override func awakeFromInsert() {
                super.awakeFromInsert()
                title = #keyPath(Book.title)
            }

            func other() {}
        }

        """

    private func fixture() throws -> SourceFixture {
        try SourceFixture([("Book.swift", Self.book), ("Author.swift", Self.author), ("More.swift", Self.more)])
    }

    @Test func whatTheCompilerDoesNotTakeIsRewritten() throws {
        let fixture = try fixture()
        #expect(
            try fixture.ported("Book.swift") == """
                import Foundation
                import CoreData

                // @objc(Comment) #keyPath(Book.title)
                public class Book: NSManagedObject {
                    override public class var objectiveCName: String? { "XYZBook" }

                    dynamic var shout: String { "@objc as! NSFetchRequest<Book>" }
                    @NSManaged public var title: String?
                    @NSManaged public var author: Author?

                    func find() throws {
                        let request = NSFetchRequest<Book>(converting: Self.fetchRequest())
                        request.sort("author.name", "title", #keyPath(Book.nothing))
                        observe(#selector(find))
                        request.addObserver(self, forKeyPath: "x", options: [], context: nil)
                    }

                    /// Called once.
                    public override func awakeFromInsert() {
                        super.awakeFromInsert()
                        title = "title"
                    }
                }

                extension Book {
                    @NSManaged public func addToAuthors(_ value: Author)
                }

                """)
        #expect(
            try fixture.ported("Author.swift") == """
                import CoreData
                public class Author: NSManagedObject {
                    @NSManaged public var name: String?
                }

                """)
        #expect(
            try fixture.ported("More.swift") == """
                import CoreData

                public extension Book {

                    func other() {}
                }

                """)
    }

    @Test func whatIsLeftIsListedWithItsPlace() throws {
        let fixture = try fixture()
        let remaining = try fixture.report().remaining
        let file = fixture.paths[0]
        #expect(remaining.map(\.line) == [13, 14, 15])
        #expect(remaining.allSatisfy { $0.path == file })
        #expect(remaining[0].message.contains("#keyPath(Book.nothing)"))
        #expect(remaining[1].message.contains("#selector"))
        #expect(remaining[2].message.contains("key-value observing"))
        #expect("\(remaining[0])".hasPrefix("\(file):13: "))
        for directory in [fixture.directory.path, fixture.directory.path + "/"] {
            #expect(remaining[0].description(from: directory).hasPrefix("Book.swift:13: "))
        }
        #expect(remaining[0].description(from: "/elsewhere").hasPrefix("\(file):13: "))
    }

    @Test func aSecondTimeNothingIsRewritten() throws {
        let fixture = try fixture()
        for (path, text) in try fixture.report().rewritten {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        let report = try fixture.report()
        #expect(report.rewritten.isEmpty)
        #expect(report.changes.isEmpty)
        #expect(report.remaining.count == 3)
    }

    @Test func theReportWritesNothing() throws {
        let fixture = try fixture()
        #expect(try fixture.report().rewritten.count == 3)
        #expect(try String(contentsOfFile: fixture.paths[0], encoding: .utf8) == Self.book)
    }

    @Test func whatASubclassOverridesMovesIntoTheClass() throws {
        let fixture = try SourceFixture([
            (
                "Base.swift",
                """
                import CoreData
                class Base: NSManagedObject {
                }
                extension Base {
                    @objc func title() -> String { "a" }
                }
                class Sub: Base {
                    override func title() -> String { "b" }
                }

                """
            )
        ])
        let text = try #require(try fixture.ported("Base.swift"))
        let base = try #require(text.components(separatedBy: "extension Base").first)
        #expect(base.contains("    func title() -> String { \"a\" }"))
    }

    /// The compiler prints no conditions of loops over what it does not know.
    @Test func keyPathsInConditionsOfLoopsBecomeStrings() throws {
        let fixture = try SourceFixture([
            (
                "File.swift",
                """
                import CoreData
                class Item: NSManagedObject {
                    @NSManaged var title: String?
                    func order(_ note: Notification) {
                        let items = note.userInfo?[NSUnknownKey] as? Set<NSManagedObject> ?? []
                        for case let item as Item in items where item.changedValues()[#keyPath(title)] != nil {}
                        switch items.first {
                        case let item as Item where item.value(forKey: #keyPath(Item.title)) != nil: break
                        default: break
                        }
                        print("#keyPath(title) \\(#keyPath(Item.title))")
                        #if os(Windows)
                        for case let item as Item in items where item.changedValues()[#keyPath(nothing)] != nil {}
                        #endif
                    }
                }

                """
            )
        ])
        let text = try #require(try fixture.ported("File.swift"))
        #expect(text.contains("where item.changedValues()[\"title\"] != nil {}"))
        #expect(text.contains("where item.value(forKey: \"title\") != nil: break"))
        #expect(text.contains("print(\"#keyPath(title) \\(\"title\")\")"))
        #expect(text.contains("#keyPath(nothing)"))
        let report = try fixture.report()
        #expect(report.remaining.isEmpty && report.changes.count == 3)
    }

    @Test func aRequestsCopyIsConverted() throws {
        let fixture = try SourceFixture([
            ("File.swift", "import CoreData\nlet a = template.copy() as! NSFetchRequest<NSManagedObject>\n")
        ])
        #expect(
            try fixture.ported("File.swift")
                == "import CoreData\nlet a = NSFetchRequest<NSManagedObject>(converting: template)\n")
    }

    @Test func selectorsOfGettersAndComparisonsBecomeTheirNames() throws {
        let fixture = try SourceFixture([
            (
                "File.swift",
                """
                import CoreData
                class Item: NSManagedObject {
                    @NSManaged var title: String?
                    func order() {
                        let a = #selector(getter: title)
                        let b = #selector(getter: Item.title)
                        let c = #selector(NSString.localizedStandardCompare(_:))
                        let d = #selector(order)
                    }
                }

                """
            )
        ])
        let text = try #require(try fixture.ported("File.swift"))
        #expect(text.contains("let a = Selector(\"title\")"))
        #expect(text.contains("let b = Selector(\"title\")"))
        #expect(text.contains("let c = Selector(\"localizedStandardCompare:\")"))
        #expect(text.contains("let d = #selector(order)"))
        #expect(try fixture.report().remaining.map(\.line) == [8])
    }

    /// The line of a file, as it was written, that the compiler takes for that of a text in what it is given.
    private func line(of text: String, in mapped: String) -> (file: String, line: Int)? {
        var place = (file: "", line: 0)
        for line in mapped.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#sourceLocation") {
                let parts = line.split(separator: "\"")
                let name = parts[1].split(separator: "/").last.map { String($0) } ?? ""
                place = (name, (Int(parts[2].filter(\.isNumber)) ?? 0) - 1)
                continue
            }
            place.line += 1
            if line.contains(text) { return place }
        }
        return nil
    }

    @Test(arguments: [
        ("Book.swift", "public class Book", "Book.swift", 6), ("Book.swift", "objectiveCName", "Book.swift", 7),
        ("Book.swift", "dynamic var shout", "Book.swift", 7),
        ("Book.swift", "NSManaged public var title", "Book.swift", 8),
        ("Book.swift", "observe(#selector(find))", "Book.swift", 14),
        ("Book.swift", "/// Called once.", "More.swift", 4), ("Book.swift", "title = \"title\"", "More.swift", 7),
        ("Book.swift", "extension Book", "Book.swift", 19), ("Book.swift", "addToAuthors", "Book.swift", 20),
        ("Author.swift", "public class Author", "Author.swift", 2), ("More.swift", "func other", "More.swift", 10),
    ])
    func theCompilerKnowsEachLinesPlaceInTheSourceAsItIs(
        _ name: String, _ text: String, _ file: String, _ line: Int
    ) throws {
        let report = try fixture().report()
        let mapped = try #require(report.mapped.first { $0.key.hasSuffix("/\(name)") }?.value)
        let place = try #require(self.line(of: text, in: mapped))
        #expect(place.file == file && place.line == line)
    }

    @Test(arguments: [
        ("Made.swift", ["stays as it is: move it there"]),
        (
            "Shop+CoreDataModel.swift",
            ["Codegen to Category/Extension (codeGenerationType=\"category\")", "class Item"]
        ),
    ])
    func nothingMovesIntoAClassThatStaysAsItIs(_ name: String, _ advice: [String]) throws {
        let fixture = try SourceFixture([
            ("Own.swift", "import CoreData\nextension Item {\n    override func didSave() {}\n}\n"),
            (name, "import CoreData\nclass Item: NSManagedObject {\n}\n"),
        ])
        var porter = SourcePorter(module: "Mod", sources: [fixture.paths[0]], workDirectory: fixture.work)
        porter.context = [fixture.paths[1]]
        let report = try porter.report()
        #expect(report.rewritten.isEmpty && report.mapped.keys.sorted() == [fixture.paths[0]])
        #expect(report.mapped.values.first?.contains("override func didSave") == true)
        #expect(report.remaining.map(\.line) == [3])
        for part in advice { #expect(report.remaining.first?.message.contains(part) == true) }
    }

    @Test(arguments: [
        "@objc(Policy) class Policy: NSEntityMigrationPolicy {}\n", "@objc(Old) class Settings: NSObject {}\n",
        "@objc(T) class T: ValueTransformer {}\n", "@objc(T) class T: B {}\nclass B: NSObject {}\n",
    ])
    func namesOfClassesThatNobodyLooksUpAreNotListed(_ text: String) throws {
        let fixture = try SourceFixture([("File.swift", "import CoreData\n" + text)])
        #expect(try fixture.report().remaining.isEmpty)
    }

    @Test func importsThatNothingProvidesAreListed() throws {
        let text = "import CoreData\nimport Defaults\nimport Dispatch\nimport Here\nimport Combine\n"
        let fixture = try SourceFixture([("File.swift", text)])
        var porter = SourcePorter(module: "Mod", sources: fixture.paths, workDirectory: fixture.work)
        #expect(try porter.report().remaining.map(\.line) == [5])
        porter.importable = ["Here"]
        let notes = try porter.report().remaining
        #expect(notes.map(\.line) == [2, 5])
        #expect(notes.first?.message.contains("import Defaults: neither the toolchain nor") == true)
        porter.importable = ["Here", "Combine", "Defaults"]
        #expect(try porter.report().remaining.isEmpty)
    }

    @Test(arguments: [
        ("let session = URLSession.shared\n", "FoundationNetworking"),
        ("func answer() -> HTTPURLResponse? { nil }\n", "FoundationNetworking"),
        ("final class Feed: NSObject, XMLParserDelegate {}\n", "FoundationXML"),
    ])
    func partsOfFoundationAreImported(_ text: String, _ module: String) throws {
        let fixture = try SourceFixture([("File.swift", "import Foundation\n\n" + text)])
        let report = try fixture.report()
        let expected = "#if canImport(\(module))\nimport \(module)\n#endif\nimport Foundation\n\n" + text
        #expect(report.rewritten.values.first == expected)
        #expect(report.changes.map(\.line) == [3])
        // What it has rewritten it leaves as it is.
        let again = try SourceFixture([("File.swift", expected)])
        #expect(try again.report().rewritten.isEmpty)
        let own = try SourceFixture([
            ("File.swift", "import Foundation\nstruct URLSession {}\n" + "let s = URLSession()\n")
        ])
        #expect(try own.report().rewritten.isEmpty)
    }

    @Test(arguments: [
        ("import UIKit\n", "import UIKit: there is no such module"),
        ("import os.log\n", "import os.log: there is no such module; log with the package swift-log"),
        ("import Combine\n", "import Combine: there is no such module; this package has one"),
        ("import UniformTypeIdentifiers\n", "import UniformTypeIdentifiers: there is no such module"),
        ("@objc protocol P { @objc optional func f() -> Bool }\n", "optional requirement"),
        ("extension NSManagedObject { override open func didSave() {} }\n", "another module"),
        ("@objc(OldName) class Settings: NSObject, NSCoding {}\n", "archives may name"),
        ("@objc(Settings) class Settings: Elsewhere {}\n", "archives may name"),
        ("@objc(Settings) class Settings: NSObject {}\nextension Settings: NSSecureCoding {}\n", "archives may name"),
        ("@objc(OldPolicy) class Policy: NSEntityMigrationPolicy {}\n", "mapping models may name the policy"),
        (
            "func f(_ r: Any?) { guard let r = r as? NSFetchRequest<NSManagedObject> else { return } ; print(r) }\n",
            "NSFetchRequest<NSManagedObject>(converting: ...)"
        ),
    ])
    func thingsForAPersonAreFound(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("File.swift", "import CoreData\n" + text)])
        let note = try #require(try fixture.report().remaining.first)
        #expect(note.message.contains(expected))
        #expect(note.line == 2)
    }
}
