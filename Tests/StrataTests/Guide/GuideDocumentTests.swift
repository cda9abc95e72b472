import Foundation
import Testing

/// The documents, held against the code: what the guide and the reference show is compiled, links lead somewhere, and
/// the tests that docs/deviations.md names exist.
@Suite struct GuideDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The code blocks of a document in one language, without indentation and empty lines.
    private static func blocks(_ language: String, of document: String) -> [[String]] {
        var blocks: [[String]] = []
        var current: [String]?
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = current {
                    blocks.append(block)
                    current = nil
                } else {
                    current = line == "```\(language)" ? [] : nil
                }
            } else if current != nil {
                current?.append(String(line))
            }
        }
        return blocks.map { lines($0.joined(separator: "\n")) }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func contains(_ code: [String], _ block: [String]) -> Bool {
        guard let first = block.first else { return true }
        return code.indices.contains { start in
            code[start] == first && code[start...].starts(with: block)
        }
    }

    /// What is compiled, and run by the tests.
    private static let compiled: [[String]] = {
        let files = [
            "Tests/StrataTests/Guide/GuideLibrary.swift", "Tests/StrataTests/Guide/GuideTests.swift",
            "Tests/StrataTests/Guide/ReferenceExampleTests.swift", "Tests/StrataTests/Guide/CookbookTests.swift",
            "Tests/StrataLogTests/Store/EngineExampleTests.swift",
            "Tests/StrataTransferTests/TransferExampleTests.swift",
            "Tests/StrataShipTests/ShippedStoreTests.swift", "Tests/StrataS3Tests/ServerTests.swift",
            "Tests/StrataS3Tests/EncryptionTests.swift",
            // What needs a plugin is compiled by an example.
            "Examples/Bookshop/Sources/Bookshop/Shelf.swift",
            "Examples/Bookshop/Sources/Bookshop/Book+CoreDataClass.swift",
            "Examples/Bookshop/Sources/Notes/Note.swift", "Examples/Bookshop/Sources/Notes/NotesModel.swift",
            "Examples/Bookshop/Sources/Notes/Notebook.swift",
            // What needs StrataService, too.
            "Examples/LibraryService/Sources/LibraryService/Library.swift",
            "Examples/LibraryService/Sources/LibraryService/Events.swift",
        ]
        return files.map { file in lines((try? text(file)) ?? "") }
    }()

    private static func expectCompiled(_ blocks: [[String]], of path: String) {
        // The manifest and the import are compiled by every example.
        for block in blocks where block.first != "// Package.swift" && block != ["import CoreData"] {
            #expect(
                compiled.contains { contains($0, block) },
                "\(path) shows what is not in the tests: \(block.joined(separator: "\n"))")
        }
    }

    @Test(arguments: [
        ("docs/guide.md", 8), ("docs/cookbook.md", 20), ("Sources/Strata/Strata.docc/TenMinutes.md", 8),
        ("Sources/Strata/Strata.docc/SavingAndConflicts.md", 2),
        ("Sources/Strata/Strata.docc/FetchingAndFaulting.md", 3), ("Sources/Strata/Strata.docc/Concurrency.md", 3),
        ("Sources/Strata/Strata.docc/FromCoreDataToLinux.md", 1), ("Sources/Strata/Strata.docc/Services.md", 5),
        ("Sources/Strata/Strata.docc/Operations.md", 2), ("Sources/Strata/Strata.docc/HowItWorks.md", 0),
        ("Sources/StrataSchema/StrataSchema.docc/StrataSchema.md", 1),
        ("Sources/StrataLog/StrataLog.docc/StrataLog.md", 1),
        ("Sources/StrataTransfer/StrataTransfer.docc/StrataTransfer.md", 2), ("docs/shipping.md", 2),
        ("docs/object-stores.md", 1), ("docs/scaling.md", 0),
    ])
    func pagesShowWhatIsCompiled(_ path: String, _ minimumCount: Int) throws {
        let blocks = Self.blocks("swift", of: try Self.text(path))
        #expect(blocks.count >= minimumCount)
        Self.expectCompiled(blocks, of: path)
    }

    @Test(arguments: ["Strata", "StrataSchema", "StrataLog", "StrataTransfer"])
    func documentationCommentsShowWhatIsCompiled(_ module: String) throws {
        let folder = Self.root.appendingPathComponent("Sources/\(module)")
        var count = 0
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            guard source.contains("/// ```swift") else { continue }
            let comments = source.split(separator: "\n").map { line in
                let text = line.trimmingCharacters(in: .whitespaces)
                return text.hasPrefix("///") ? String(text.dropFirst(3).drop { $0 == " " }) : ""
            }
            let blocks = Self.blocks("swift", of: comments.joined(separator: "\n"))
            count += blocks.count
            Self.expectCompiled(blocks, of: file.lastPathComponent)
        }
        #expect(count > 2)
    }

    @Test(arguments: [
        "README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/deviations.md", "docs/architecture.md",
        "docs/architecture/decisions.md", "docs/architecture/following.md", "docs/architecture/history.md",
        "docs/architecture/log.md", "docs/architecture/objects.md", "docs/architecture/reading.md",
        "docs/architecture/saving.md", "docs/architecture/threads-and-memory.md", "docs/changing-strata.md",
        "docs/testing.md", "docs/inspect.md", "docs/services.md", "docs/operations.md", "docs/cookbook.md",
        "docs/durability.md", "docs/fetching.md", "docs/migration.md",
        "docs/porting.md", "docs/shipping.md", "docs/object-stores.md", "docs/scaling.md",
    ])
    func linksLeadSomewhere(_ path: String) throws {
        let text = try Self.text(path)
        let base = Self.root.appendingPathComponent(path).deletingLastPathComponent()
        for match in text.matches(of: #/\]\((?<file>[^)#\s]*)(?:#(?<anchor>[^)\s]+))?\)/#) {
            let file = String(match.output.file)
            if file.hasPrefix("http") { continue }
            let target = file.isEmpty ? Self.root.appendingPathComponent(path) : base.appendingPathComponent(file)
            #expect(FileManager.default.fileExists(atPath: target.path), "\(path) links to \(file)")
            if let anchor = match.output.anchor {
                let headings = Self.anchors(try String(contentsOf: target, encoding: .utf8))
                #expect(headings.contains(String(anchor)), "\(path) links to \(file)#\(anchor)")
            }
        }
    }

    /// The anchors of a document's headings, as GitHub makes them.
    private static func anchors(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
            heading.drop { $0 == "#" || $0 == " " }.lowercased()
                .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                .replacingOccurrences(of: " ", with: "-")
        }
    }

    @Test func everyDeviationCanBeReachedFromTheGuide() throws {
        let guide = try Self.text("docs/guide.md")
        for anchor in Self.anchors(try Self.text("docs/deviations.md")).dropFirst() {
            #expect(guide.contains("(deviations.md#\(anchor))"), "the guide does not lead to \(anchor)")
        }
    }

    /// Tests are named `Suite.test`, or `test` after one of the same suite.
    @Test func testsNamedInTheDeviationsExist() throws {
        var functions: [String: String] = [:]
        let files = ["Tests", "Examples/Bookshop/Tests"].flatMap { folder in
            let path = Self.root.appendingPathComponent(folder)
            return FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil)?.allObjects ?? []
        }
        for case let file as URL in files {
            guard file.pathExtension == "swift", !file.path.contains("/.build/") else { continue }
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: #/(?:struct|class|enum|extension) (\w+)/#) {
                functions[String(match.output.1), default: ""] += source
            }
        }
        var count = 0
        for row in try Self.text("docs/deviations.md").split(separator: "\n") where row.hasPrefix("| ") {
            guard let cell = row.split(separator: "|").last(where: { !$0.allSatisfy(\.isWhitespace) }) else { continue }
            var suite: String?
            for match in cell.matches(of: #/`(?:(?<suite>[A-Z]\w+)\.?)?(?<test>[a-z]\w+)?`/#) {
                if let name = match.output.suite { suite = String(name) }
                guard let suite, suite.hasSuffix("Tests") else { continue }
                guard let source = functions[suite] else {
                    Issue.record("there is no \(suite)")
                    continue
                }
                count += 1
                if let test = match.output.test {
                    #expect(source.contains("func \(test)("), "there is no \(suite).\(test)")
                }
            }
        }
        #expect(count > 50)
    }
}
