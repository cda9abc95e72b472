import Foundation
import Testing

@testable import StrataSourceTools

/// Files that import Foundation and use what only Apple's has.
@Suite struct FoundationNameTests {
    @Test(arguments: [
        ("import Foundation\nclass T: ValueTransformer {}\n", "import CoreData\nimport Foundation\n"),
        ("import Foundation\nlet s = \"a \\(a(\"b\")) \\(Selector(\"x\"))\"\n", "import CoreData\nimport Foundation\n"),
        (
            "// Mine.\n\npublic import Foundation\nlet u = UndoManager()\n",
            "// Mine.\n\npublic import CoreData\npublic im"
        ),
        ("import Dispatch\nimport Foundation\nautoreleasepool {}\n", "import Dispatch\nimport CoreData\nimport Found"),
        ("import class Foundation.NSObject\nlet s: Selector? = nil\n", "import CoreData\nimport class Foundation"),
        ("import Foundation\nlet p = NSPredicate( format: \"a == 1\")\n", "import CoreData\nimport Foundation\n"),
    ])
    func suchAFileImportsCoreDataOnce(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("File.swift", text)])
        let ported = try #require(try fixture.ported("File.swift"))
        #expect(ported.hasPrefix(expected))
        #expect(ported.components(separatedBy: "import CoreData").count == 2)
        try fixture.write("File.swift", ported)
        #expect(try fixture.report().rewritten.isEmpty)
    }

    /// Foundation has neither here, and the compiler says that it has no such member.
    @Test(arguments: [
        (
            "import Foundation\nclass T: Foundation.ValueTransformer {}\n",
            "import CoreData\nimport Foundation\nclass T: ValueTransformer, @unchecked Sendable {}\n"
        ),
        (
            "import CoreData\nlet a = Foundation . UndoManager(), b: Foundation.Date? = nil, c = x.Foundation.Selector\n",
            "import CoreData\nlet a = UndoManager(), b: Foundation.Date? = nil, c = x.Foundation.Selector\n"
        ),
        (
            "import Foundation\nstruct UndoManager {}\nlet u = Foundation.UndoManager()\n",
            "import CoreData\nimport Foundation\nstruct UndoManager {}\nlet u = CoreData.UndoManager()\n"
        ),
        (
            "import Foundation\nlet s = Foundation.URLSession.shared // Foundation.URLSession\n",
            "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nimport Foundation\n"
                + "let s = URLSession.shared // Foundation.URLSession\n"
        ),
    ])
    func namesThatFoundationLacksLoseItsName(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("File.swift", text)])
        #expect(try fixture.ported("File.swift") == expected)
        try fixture.write("File.swift", expected)
        #expect(try fixture.report().rewritten.isEmpty)
    }

    @Test(arguments: [
        "import CoreData\nlet u = UndoManager()\n", "import Strata\nlet u = UndoManager()\n",
        "import Foundation\n// ValueTransformer\nlet a = \"UndoManager \\(1) Selector\"\n",
        "import Foundation\nlet a = #\"\\(UndoManager())\"#, b = \"\"\"\n    \" Selector\n    \"\"\"\n",
        "import Foundation\nlet a = item.undoManager, b = item.Selector\n",
        "import Foundation\nlet p = NSPredicate(block: { _, _ in true })\n",
        "import Foundation\nstruct Selector {}\nlet s = Selector()\n", "let s: Selector? = nil\n",
    ])
    func otherFilesStay(_ text: String) throws {
        let fixture = try SourceFixture([("File.swift", text)])
        #expect(try fixture.report().rewritten.isEmpty)
    }

    @Test func aTargetThatCannotImportCoreDataIsTold() throws {
        let fixture = try SourceFixture([("File.swift", "import Foundation\n\nlet u = UndoManager()\n")])
        var porter = SourcePorter(module: "Mod", sources: fixture.paths, workDirectory: fixture.work)
        porter.hasCoreData = false
        let report = try porter.report()
        #expect(report.rewritten.isEmpty && report.remaining.map(\.line) == [3])
        #expect(report.remaining.first?.message.contains("depend on the product CoreData") == true)
    }

    /// Fails when Strata declares another name in the place of Apple's Foundation.
    @Test func whatStrataDeclaresInFoundationsPlaceIsKnown() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // Strata's own names, and what arguments need.
        let own: Set<String> = [
            "KeyValueCoding", "KeyedSortDescriptorFactory", "NotificationSequence", "PredicateFunctionTarget",
            "_ValueTransformerLookup",
        ]
        let declaration = try Regex(
            #"(?m)^(?:public|open)(?: final)? (?:class|struct|enum|protocol|typealias|func|let|var) (\w+)"#)
        var found: Set<String> = []
        for folder in ["StrataSchema/Foundation", "CoreDataNames"] {
            let directory = root.appendingPathComponent("Sources/\(folder)")
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                let text = try String(contentsOf: file, encoding: .utf8)
                found.formUnion(text.matches(of: declaration).compactMap { $0.output[1].substring.map(String.init) })
            }
        }
        #expect(found.count > 10)
        #expect(found.subtracting(own).subtracting(FoundationNames.names).isEmpty)
    }
}
