import CoreData
import Foundation
import StrataSchema
import StrataTestKit
import Testing

/// Texts of hundreds of thousands of letters: what predicates find in them, and that a request that is to stop need not
/// wait for their end.
@Suite struct LongTextTests {
    enum Script: String, CaseIterable, Sendable {
        case ascii, accents, greek, chinese, koreanLetters, emoji

        /// What the texts are made of.
        var syllables: [String] {
            switch self {
            case .ascii: ["a"]
            case .accents: ["é", "e\u{301}", "Ü", "ß", "a"]
            case .greek: ["Σ", "ς", "α\u{301}", "ΐ"]
            case .chinese: ["語", "か\u{3099}", "ガ"]
            case .koreanLetters: ["\u{1112}\u{1161}\u{11AB}", "한"]
            case .emoji: ["👩‍👩‍👧", "🇩🇪", "1️⃣"]
            }
        }

        func text(_ letters: Int) -> String {
            let syllables = syllables
            var text = ""
            for index in 0..<letters / syllables.count { text += syllables[index % syllables.count] }
            return text
        }
    }

    static let formats = [
        "name CONTAINS 'aaaaab'", "name CONTAINS[cd] 'aaaaab'", "uppercase(name) CONTAINS[cd] 'aaaaab'",
        "lowercase(name) == 'x'", "uppercase(name) < 'x'", "name ==[c] 'x'", "name BETWEEN {'x', 'y'}",
        "name BEGINSWITH[d] 'x'", "name ENDSWITH[cd] 'xyz'", "name IN[cd] {'x', 'y'}", "'x' IN[cd] name",
        "name LIKE[cd] '*a?*ab*xy'", "name MATCHES[c] '(a|aa)*b'", "name CONTAINS $LONG", "name CONTAINS[cd] $LONG",
    ]

    @Test(arguments: formats, Script.allCases)
    func aPredicateIsAskedNowAndThenWhetherToStop(_ format: String, _ script: Script) {
        let text = script.text(400_000)
        let row: NSDictionary = ["name": text]
        let long = String(script.text(100_000).dropLast()) + "b"
        let predicate = NSPredicate(format: format).withSubstitutionVariables(["LONG": long])
        let pauses = Pauses()
        let work = EvaluationWork { pauses.note() }
        work.run { _ = predicate.evaluate(with: row) }
        _ = pauses.note()
        // Ten milliseconds for the optimised program; C without optimisation takes several times as long.
        #expect(pauses.longest < (BuildMode.isDebug ? 0.06 : 0.01))
    }

    /// The time of this thread between one question and the next, in seconds: what else the machine does is not in it.
    private final class Pauses {
        private(set) var longest = 0.0
        private var last = Pauses.now

        func note() -> Bool {
            let now = Self.now
            longest = max(longest, now - last)
            last = now
            return false
        }

        private static var now: Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    @Test(arguments: Script.allCases) func whatIsStoppedInsideOfATextEndsThere(_ script: Script) {
        let row: NSDictionary = ["name": script.text(400_000) + "end"]
        // In ASCII nothing but a function's value is made piece by piece.
        let formats = ["uppercase(name) ENDSWITH 'END'"] + (script == .ascii ? [] : ["name ENDSWITH[cd] 'END'"])
        for format in formats {
            var questions = 0
            let work = EvaluationWork {
                questions += 1
                return questions > 3
            }
            _ = work.run { NSPredicate(format: format).evaluate(with: row) }
            #expect(work.isStopped && questions == 4)
            #expect(NSPredicate(format: format).evaluate(with: row))
        }
    }

    @Test(arguments: RandomRuns.seeds(from: 700, count: 3))
    func changedInPiecesATextIsWhatItIsAsAWhole(_ seed: UInt64) {
        print("LongTextTests: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let changes: [(String) -> String] = [
            { $0.uppercased() }, { $0.lowercased() },
            { $0.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil) },
            { $0.precomposedStringWithCanonicalMapping.folding(options: .diacriticInsensitive, locale: nil) },
        ]
        for _ in 0..<RandomRuns.operations(60) {
            let text = Self.text(&random)
            for (index, change) in changes.enumerated() {
                let (pieces, whole) = (TextPieces.changed(text, change), change(text))
                let difference = zip(pieces.unicodeScalars, whole.unicodeScalars).enumerated().first { $1.0 != $1.1 }
                #expect(
                    pieces.utf8.elementsEqual(whole.utf8),
                    "change \(index), \(text.utf8.count) bytes, first difference \(String(describing: difference))")
            }
        }
    }

    /// Letters of many scripts, with marks, of some pieces' length.
    private static func text(_ random: inout SeededGenerator) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xC0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x600...0x6FF, 0x900...0x9FF, 0x1100...0x11FF,
            0x1E00...0x1FFF, 0x2000...0x206F, 0x3040...0x30FF, 0x4E00...0x4EFF, 0xAC00...0xACFF, 0x1_1080...0x1_10CF,
            0x1_6D40...0x1_6D7F, 0x1_F300...0x1_F6FF,
        ]
        let kinds = (0..<Int.random(in: 1...4, using: &random)).map { _ in ranges.randomElement(using: &random)! }
        var text = ""
        for _ in 0..<Int.random(in: 1_000...12_000, using: &random) {
            let value = UInt32.random(in: kinds.randomElement(using: &random)!, using: &random)
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    /// Texts that repeat themselves are where a search goes back again and again.
    @Test(arguments: RandomRuns.seeds(from: 710, count: 3)) func aSearchFindsWhatIsThere(_ seed: UInt64) {
        print("LongTextTests: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<RandomRuns.operations(40) {
            let period = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                [UInt8(ascii: "a"), UInt8(ascii: "b")].randomElement(using: &random)!
            }
            var text = (0..<Int.random(in: 100...60_000, using: &random)).map { period[$0 % period.count] }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = UInt8(ascii: "b")
            }
            let length = Int.random(in: 1...text.count, using: &random) / Int.random(in: 1...20, using: &random) + 1
            let start = Int.random(in: 0...max(0, text.count - length), using: &random)
            var pattern = Array(text[start..<min(text.count, start + length)])
            if Bool.random(using: &random) {
                pattern[Int.random(in: pattern.indices, using: &random)] = UInt8(ascii: "a")
            }
            let isThere = Self.contains(text, pattern)
            let (name, part) = (String(decoding: text, as: UTF8.self), String(decoding: pattern, as: UTF8.self))
            for (format, name) in [("name CONTAINS %@", name), ("name CONTAINS[c] %@", name.uppercased())] {
                #expect(NSPredicate(format: format, part).evaluate(with: ["name": name]) == isThere)
            }
        }
    }

    /// A scan searches the values of many rows at once, which lie one behind the other: what it finds may reach from
    /// one into the next.
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 720, count: 2))
    func aSearchOfManyRowsFindsNothingBetweenThem(_ kind: StoreKind, _ seed: UInt64) throws {
        print("LongTextTests: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        let context = store.context()
        let letters = [UInt8(ascii: "a"), UInt8(ascii: "a"), UInt8(ascii: "a"), UInt8(ascii: "b")]
        func text(_ length: Int) -> [UInt8] { (0..<length).map { _ in letters.randomElement(using: &random)! } }
        let names = (0..<600).map { _ in text(Int.random(in: 0...12, using: &random)) }
        try context.performAndWait {
            for name in names {
                insert("Employee", context).setValue(String(decoding: name, as: UTF8.self), forKey: "name")
            }
            try context.save()
            for _ in 0..<RandomRuns.operations(60) {
                let part = text(Int.random(in: 1...15, using: &random))
                let expected = names.count { Self.contains($0, part) }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
                for format in ["name CONTAINS %@", "name CONTAINS[c] %@"] {
                    request.predicate = NSPredicate(format: format, String(decoding: part, as: UTF8.self))
                    let found = try context.count(for: request)
                    #expect(found == expected, "\(request.predicate as Any), seed \(seed)")
                }
            }
        }
    }

    /// Knuth, Morris and Pratt's search.
    private static func contains(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        var borders = [0]
        var matched = 0
        for byte in pattern.dropFirst() {
            while matched > 0, pattern[matched] != byte { matched = borders[matched - 1] }
            if pattern[matched] == byte { matched += 1 }
            borders.append(matched)
        }
        matched = 0
        for byte in text {
            while matched > 0, pattern[matched] != byte { matched = borders[matched - 1] }
            if pattern[matched] == byte { matched += 1 }
            if matched == pattern.count { return true }
        }
        return false
    }
}
