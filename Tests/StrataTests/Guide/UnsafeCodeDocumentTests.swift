import Foundation
import Testing

/// docs/unsafe.md against the code: whatever uses what the compiler does not check is named there, with the reason, and
/// nothing else is.
@Suite struct UnsafeCodeDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A section of the page, and what makes a file belong there.
    struct Kind: CustomTestStringConvertible {
        let section: String
        let words: [String]
        /// Raw pointers are named by folder.
        var byFolder = false
        /// What generates or parses source texts has such words in strings.
        var without = "nothing"

        var testDescription: String { section }
    }

    static let kinds = [
        Kind(section: "Assumptions about the runtime", words: ["@_"], without: "StrataSourceTools/"),
        Kind(section: "Casts that are not checked", words: ["unsafeBitCast", "unsafeDowncast"]),
        Kind(section: "Types that say they are Sendable", words: ["@unchecked Sendable"]),
        Kind(section: "Global state without isolation", words: ["nonisolated(unsafe)"]),
        Kind(section: "Accesses that are not checked for overlaps", words: ["exclusivity(unchecked)"]),
        Kind(
            section: "References that are not counted",
            words: ["Unmanaged", "unowned(unsafe)", "takeUnretainedValue", "withBorrowed"]),
        Kind(
            section: "Raw pointers",
            words: [
                "UnsafePointer", "UnsafeRaw", "UnsafeBuffer", "UnsafeMutable", "OpaquePointer", "withUnsafeBytes",
                "withUnsafeTemporaryAllocation",
            ],
            byFolder: true),
    ]

    private static func swiftFiles(below folder: URL) -> [URL] {
        guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" && !$0.path.contains("/.build") }
    }

    /// The code of all files without lines of comments and what stands between quotation marks, by their paths below
    /// Sources, without extension.
    private static let sources: [String: String] = {
        let folder = root.appendingPathComponent("Sources")
        var sources: [String: String] = [:]
        for url in swiftFiles(below: folder) {
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
            let code = text.split(separator: "\n").filter {
                !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
            }
            let path = url.deletingPathExtension().path.dropFirst(folder.path.count + 1)
            sources[String(path)] = code.joined(separator: "\n").replacing(#/"[^"\n]*"/#, with: "")
        }
        return sources
    }()

    private static func page() throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/unsafe.md"), encoding: .utf8)
    }

    /// What the tables of a section name in their first column: files, and folders with a slash at the end.
    private static func named(_ section: String, in page: String) throws -> Set<String> {
        let parts = try #require(page.range(of: "## \(section)\n").map { page[$0.upperBound...] })
        let text = parts.range(of: "\n## ").map { parts[..<$0.lowerBound] } ?? parts
        var found: Set<String> = []
        for row in text.split(separator: "\n") where row.hasPrefix("| ") {
            let place = row.split(separator: "|").first ?? ""
            for group in place.split(separator: ";") {
                let folder = group.split(separator: ":").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
                for match in group.matches(of: #/`(?<name>[^`]+)`/#) {
                    let name = String(match.output.name)
                    found.insert(name.hasSuffix("/") ? name : "\(folder)/\(name)")
                }
            }
        }
        return found
    }

    @Test(arguments: kinds) func thePageNamesWhatIsUsed(_ kind: Kind) throws {
        let using = Self.sources.filter { path, code in
            !path.hasPrefix(kind.without) && kind.words.contains { code.contains($0) }
        }.keys
        #expect(!using.isEmpty)
        let places = kind.byFolder ? Set(using.map { ($0 as NSString).deletingLastPathComponent + "/" }) : Set(using)
        var named = try Self.named(kind.section, in: Self.page())
        // The section on the runtime says what its files assume, which need no attribute.
        if kind.section == "Assumptions about the runtime" { named = named.filter { !$0.hasPrefix("StrataRuntime/") } }
        #expect(places.subtracting(named).sorted() == [], "not in docs/unsafe.md, \(kind.section)")
        #expect(named.subtracting(places).sorted() == [], "docs/unsafe.md names them without need, \(kind.section)")
    }

    /// Every file of the module has a check, and is named with what it assumes.
    @Test func everyAssumptionIsDescribed() throws {
        let named = try Self.named("Assumptions about the runtime", in: Self.page())
        for (path, code) in Self.sources where path.hasPrefix("StrataRuntime/") && !path.hasSuffix("/RuntimeChecks") {
            #expect(code.contains("static func check() -> String?"), "\(path) has no check")
            #expect(named.contains(path), "\(path) is not in docs/unsafe.md")
        }
    }

    /// What rests on the runtime's insides stands in its module only.
    @Test(arguments: [
        "swift_retainCount", "_withUnsafeGuaranteedRef", "_unsafeLock", "strata_try_retain", "strata_retain",
        "strata_release", "strata_classes_named", "fromByteOffset: 32",
    ])
    func tricksStandInTheirModule(_ word: String) {
        let using = Self.sources.filter { !$0.key.hasPrefix("StrataRuntime/") && $0.value.contains(word) }.keys
        #expect(using.sorted() == [])
    }

    /// The suites that would notice exist.
    @Test func testsNamedOnThePageExist() throws {
        let code = Self.swiftFiles(below: Self.root.appendingPathComponent("Tests"))
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
        for match in try Self.page().matches(of: #/`(?<suite>[A-Z]\w+Tests)\b/#) {
            let suite = match.output.suite
            #expect(code.contains("struct \(suite) ") || code.contains("class \(suite) "), "there is no \(suite)")
        }
    }
}
