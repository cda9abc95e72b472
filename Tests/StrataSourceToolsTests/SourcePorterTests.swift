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
        ("import os.lock\n", ["Mutex of the module Synchronization"], ["swift-log"]),
        ("import os.log\n", ["swift-log"], ["Mutex"]), ("import os\n", ["swift-log"], ["Mutex"]),
        ("import OSLog\n", ["swift-log"], ["Mutex"]), ("import struct os.Logger\n", ["swift-log"], ["Mutex"]),
        ("import os.signpost\n", ["leave signposts out"], ["swift-log", "Mutex"]),
        ("import os\nlet lock = OSAllocatedUnfairLock()\n", ["Mutex"], ["swift-log"]),
        ("import os\nvar lock = os_unfair_lock(), log = Logger()\n", ["Mutex", "swift-log"], []),
        ("import CloudKit\n", ["there is no such module"], ["swift-log", "Mutex"]),
    ])
    func importsOfOSAreForLogsOrForLocks(_ text: String, _ expected: [String], _ others: [String]) throws {
        let fixture = try SourceFixture([("File.swift", text)])
        let note = try #require(try fixture.report().remaining.first)
        for part in expected { #expect(note.message.contains(part), "\(note.message)") }
        for part in others { #expect(!note.message.contains(part), "\(note.message)") }
    }

    /// The migration failed when it ran, and nothing had said why.
    @Test func functionsThatMappingModelsCallAreListed() throws {
        let text = """
            import CoreData
            class Scaling: NSEntityMigrationPolicy {
                @objc func scaled(_ x: NSNumber) -> NSNumber { x }
                @objc(join:with:) dynamic func joined(a: String, b: String) -> String { a + b }
                func own(_ x: Int) {}
                override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}
            }
            final class Other: Scaling {}
            extension Other {
                @objc func convert(value: NSNumber, unit: String) -> NSNumber { value }
            }
            @objcMembers class All: NSEntityMigrationPolicy {
                func plain() -> String { "" }
                private func hidden() {}
            }
            class Knowing: NSEntityMigrationPolicy {
                @objc func scaled(_ x: NSNumber) -> NSNumber { x }
                override func performPredicateFunction(_ name: String, arguments: [Any?]) throws -> Any? { nil }
            }
            class Item: NSManagedObject {
                @objc func scaled(_ x: NSNumber) -> NSNumber { x }
            }

            """
        let fixture = try SourceFixture([("File.swift", text)])
        let report = try fixture.report()
        #expect(report.remaining.map(\.line) == [3, 4, 10, 13])
        let names = ["\"scaled:\"", "\"join:with:\"", "\"convertWithValue:unit:\"", "\"plain\""]
        for (note, name) in zip(report.remaining, names) {
            #expect(note.message.contains("FUNCTION($entityPolicy, \(name)"), "\(note.message)")
            #expect(note.message.contains("performPredicateFunction(_:arguments:)"))
        }
        #expect(report.remaining.first?.message.contains("Scaling.scaled(_:)") == true)
    }

    @Test func keyPathsOfWhatEveryObjectHasBecomeStrings() throws {
        let text = """
            import CoreData
            class Car: NSManagedObject {
                @NSManaged var owner: Car?
                func order() {
                    sort(#keyPath(Car.objectID), #keyPath(owner.objectID), #keyPath(Car.isDeleted), #keyPath(hasChanges))
                    sort(#keyPath(Car.entity.name))
                    sort(#keyPath(Car.objectIDs))
                }
            }

            """
        let fixture = try SourceFixture([("File.swift", text)])
        let ported = try #require(try fixture.ported("File.swift"))
        #expect(ported.contains("sort(\"objectID\", \"owner.objectID\", \"isDeleted\", \"hasChanges\")"))
        #expect(ported.contains("sort(\"entity.name\")") && ported.contains("#keyPath(Car.objectIDs)"))
        // What is behind the entity is not in these sources.
        #expect(try fixture.report().remaining.map(\.line) == [6, 7])
    }

    /// NSSet takes no literals on Linux.
    @Test func arraysForSetsBecomeSets() throws {
        let text = """
            import CoreData
            class Person: NSManagedObject {
                @NSManaged var friends: NSSet?
                @NSManaged var tags: NSSet
                @NSManaged var tasks: NSOrderedSet?
                @NSManaged var pets: Set<Person>
                func fill(_ other: Person, _ unknown: Unknown) {
                    friends = [other, self]
                    self.tags = []
                    other.friends!.unrelated = [other]
                    unknown.person?.friends = [
                        other
                    ]
                    tasks = [other]
                    pets = [other]
                    let friends: [Person] = [other]
                    other.friends = NSSet(array: [other])
                }
            }
            class Zoo: NSManagedObject { @NSManaged var animals: NSSet? }
            struct Cage {
                var animals: [Zoo] = []
                mutating func clear() { animals = [] }
            }

            """
        let fixture = try SourceFixture([("File.swift", text)])
        let ported = try #require(try fixture.ported("File.swift"))
        #expect(ported.contains("        friends = NSSet(array: [other, self])\n"))
        #expect(ported.contains("        self.tags = NSSet(array: [])\n"))
        #expect(ported.contains("unknown.person?.friends = NSSet(array: [\n            other\n        ])"))
        for same in [
            "tasks = [other]", "pets = [other]", "let friends: [Person] = [other]", "unrelated = [other]",
            "{ animals = [] }",
        ] {
            #expect(ported.contains(same), "\(same)")
        }
        #expect(try fixture.report().changes.map(\.line) == [8, 9, 11])
        try fixture.write("File.swift", ported)
        #expect(try fixture.report().rewritten.isEmpty)
    }

    /// What docs/porting.md has programs copy into their targets compiles, with what programs write.
    @Test func theLoggingFileCompiles() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let path = "Examples/Trips/Sources/Trips/Logging.swift"
        let file = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let calls = """
            func call(_ value: Double, _ name: String?) {
                let category = OSLog(subsystem: "a", category: "b")
                os_log("plain")
                os_log("values %@ %{public}d", log: category, type: .error, name, 3)
                os_log("value %@", log: category, value)
                os_log("typed", type: .info)
                os_log("interpolated \\(value)")
                os_log(.info, "level \\(value, privacy: .public)")
                os_log(.error, log: .disabled, "\\(value, format: .fixed(precision: 2), privacy: .private(mask: .hash))")
                let logger = Logger(category)
                logger.info("\\(255, format: .hex, align: .right(columns: 8)) \\(name, privacy: .auto)")
                logger.log("default")
                logger.log(level: .debug, "debug")
                Logger(OSLog.disabled).error("never")
                Logger(subsystem: "a", category: "b").warning("warning")
                let type: OSLogType = .fault
                if category.isEnabled(type: type) { os_log(type, log: category, "typed") }
            }

            """
        let fixture = try SourceFixture([("Logging.swift", file), ("Calls.swift", calls)])
        let frontend = try SwiftFrontend(compiler: nil)
        for version in ["5", "6"] {
            let outcome = try frontend.run(
                ["-typecheck", "-parse-as-library", "-module-name", "Mod", "-swift-version", version] + fixture.paths)
            #expect(outcome.status == 0, "\(outcome.messages)")
        }
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
