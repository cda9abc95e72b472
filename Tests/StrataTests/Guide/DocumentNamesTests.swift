import Foundation
import Testing

/// Pages about the code name types, methods, folders and tests: all of them exist.
@Suite struct DocumentNamesTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every word of the sources and scripts, and of their paths.
    private static let words: Set<Substring> = {
        var words: Set<Substring> = []
        for folder in ["Sources", "Tests", "Plugins", "Benchmarks", "Examples", "Makefile"] {
            let top = root.appendingPathComponent(folder)
            let below = FileManager.default.enumerator(at: top, includingPropertiesForKeys: nil)?.allObjects ?? []
            for case let file as URL in [top] + below where !file.path.contains("/.build") {
                let path = String(file.path.dropFirst(root.path.count))
                words.formUnion(path.split { !isWord($0) })
                guard ["swift", "c", "h", "sh", ""].contains(file.pathExtension),
                    let text = try? String(contentsOf: file, encoding: .utf8)
                else { continue }
                words.formUnion(text.split { !isWord($0) })
            }
        }
        return words
    }()

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    @Test(arguments: [
        "docs/architecture.md", "docs/architecture/decisions.md", "docs/architecture/following.md",
        "docs/architecture/history.md", "docs/architecture/log.md", "docs/architecture/objects.md",
        "docs/architecture/reading.md", "docs/architecture/saving.md", "docs/architecture/threads-and-memory.md",
        "docs/changing-strata.md", "docs/compaction.md", "docs/durability.md", "docs/fetching.md", "docs/glossary.md",
        "docs/migration.md", "docs/unsafe.md",
    ])
    func theCodeHasWhatAPageNames(_ path: String) throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
            .replacing(#/```(.|\n)*?```/#, with: "")
        let named = page.matches(of: #/`(?<code>[^`\n]+)`/#).flatMap { $0.output.code.split { !Self.isWord($0) } }
        #expect(named.count > 10)
        #expect(Set(named).subtracting(Self.words).sorted() == [], "\(path) names what there is not")
    }
}
