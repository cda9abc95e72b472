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

    @Test(arguments: [
        ("import UIKit\n", "import UIKit"), ("@objc protocol P { @objc optional func f() }\n", "optional requirement"),
        ("extension NSManagedObject { override open func didSave() {} }\n", "another module"),
        ("@objc(OldName) class Settings: NSObject {}\n", "archives may name"),
    ])
    func thingsForAPersonAreFound(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("File.swift", "import CoreData\n" + text)])
        let note = try #require(try fixture.report().remaining.first)
        #expect(note.message.contains(expected))
        #expect(note.line == 2)
    }
}
