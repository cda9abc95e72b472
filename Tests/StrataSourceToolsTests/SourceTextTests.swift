import Testing

@testable import StrataSourceTools

@Suite struct SourceTextTests {
    @Test(arguments: [
        (" String?\n}", "String?"), (" Int, b: String", "Int"), ("[String: [Int]]?\nvar", "[String:[Int]]?"),
        (" Set<Book> { get }", "Set<Book>"), (" any Shape & Sendable; x", "any Shape&Sendable"),
        (" /* of books */ Set<\n Book // each\n>\n", "Set<Book>"), ("(Int) -> Void\n", "(Int) -> Void"),
        (" Shop\n  .Order?\nvar", "Shop.Order?"), (" `Type`\n", "`Type`"), (" Book)", "Book"),
    ])
    func aTypeEndsWhereItsTextDoes(_ text: String, _ expected: String) {
        #expect(SourceText(path: "", bytes: Array(text.utf8)).type(at: 0).text == expected)
    }

    @Test func placesCountFromOne() {
        let text = SourceText(path: "", bytes: Array("ab\ncd".utf8))
        #expect(text.position(0) == (1, 1))
        #expect(text.position(4) == (2, 2))
    }

    @Test func placesAreThoseThatDirectivesName() {
        let lines = [
            "#sourceLocation(file: \"/a/B.swift\", line: 7)", "x", "  y", "#sourceLocation(file: \"C\", line: 1)", "z",
        ]
        let text = SourceText(path: "D", bytes: Array(lines.joined(separator: "\n").utf8))
        for (word, path, line) in [("x", "/a/B.swift", 7), ("y", "/a/B.swift", 8), ("z", "C", 1)] {
            let offset = text.bytes.lastIndex(of: Array(word.utf8)[0]) ?? 0
            #expect(text.origin(offset) == (path, line))
        }
        #expect(SourceText(path: "D", bytes: Array("a\nb".utf8)).origin(2) == ("D", 2))
    }
}
