import CoreData
import Foundation
import StrataTestKit
import Testing

@testable import StrataTransfer

/// Random models and values go out as text and come in again as they were, to the last bit.
@Suite struct TextRoundTripTests {
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["STRATA_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return (0..<UInt64(8 * (environment["STRATA_SOAK"].flatMap { Int($0) } ?? 1))).map { 20_261_127 + $0 }
    }()

    @Test(arguments: seeds, [true, false]) func whatGoesOutComesInEqual(_ seed: UInt64, _ isJSON: Bool) throws {
        let scratch = try Scratch()
        var random = RandomText(seed: seed)
        let store = scratch.url("store")
        try random.makeStore(store)
        let (file, copy) = (scratch.url("text").path, scratch.url("copy"))
        let (written, read) =
            isJSON
            ? (try TextTransfer().writeJSONLines(store, to: file), try TextTransfer().readJSONLines(file, to: copy))
            : (try TextTransfer().writeCSV(store, to: file), try TextTransfer().readCSV(file, to: copy))
        #expect(written == read, "seed \(seed)")
        #expect(read.objects == 40, "seed \(seed)")
        let (found, wanted) = (try StoreContents.of(copy), try StoreContents.of(store))
        #expect(found.count == wanted.count, "seed \(seed)")
        for (value, want) in zip(found, wanted) { #expect(value == want, "seed \(seed)") }
        // Nothing lies outside of what was asked for.
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
        let others = names.filter { !["store", "text", "copy"].contains($0.prefix { $0 != "-" }) }
        #expect(others.isEmpty, "seed \(seed): \(others)")
    }

    /// A file that was cut off, or of which a byte has changed, is refused, or is the same store: lines may lose spaces
    /// and the like, but values do not change, nor go.
    @Test(arguments: seeds.prefix(1)) func aDamagedFileIsNeverAnotherStore(_ seed: UInt64) throws {
        let scratch = try Scratch()
        try Company.makeStore(scratch.url("store"))
        let file = scratch.url("all.jsonl")
        _ = try TextTransfer().writeJSONLines(scratch.url("store"), to: file.path)
        let whole = try Data(contentsOf: file)
        var random = SeededGenerator(seed: seed)
        for index in 0..<8 {
            let count = index == 0 ? whole.count - 2 : Int.random(in: 0..<whole.count - 1, using: &random)
            let cut = scratch.url("cut.jsonl")
            try whole.prefix(count).write(to: cut)
            #expect(throws: (any Error).self, "seed \(seed), \(count) bytes") {
                try TextTransfer().readJSONLines(cut.path, to: scratch.url("copy"))
            }
            #expect(!FileManager.default.fileExists(atPath: scratch.url("copy").path))
        }
        // Whole lines that are missing, or come twice.
        let lines = whole.split(separator: UInt8(ascii: "\n"))
        for index in lines.indices {
            for isMissing in [true, false] {
                var changed = lines
                if isMissing { changed.remove(at: index) } else { changed.insert(lines[index], at: index) }
                let other = scratch.url("other.jsonl")
                try Data(changed.joined(separator: [UInt8(ascii: "\n")])).write(to: other)
                #expect(throws: (any Error).self, "seed \(seed), line \(index + 1)") {
                    try TextTransfer().readJSONLines(other.path, to: scratch.url("copy"))
                }
            }
        }
    }

    /// A changed byte of a value may be another value, which nothing tells; everything else is refused, and leaves
    /// nothing behind.
    @Test(arguments: seeds.prefix(2)) func aChangedByteIsRefusedOrReadAsItStands(_ seed: UInt64) throws {
        let scratch = try Scratch()
        var random = RandomText(seed: seed)
        try random.makeStore(scratch.url("store"))
        let file = scratch.url("all.jsonl")
        let written = try TextTransfer().writeJSONLines(scratch.url("store"), to: file.path)
        let whole = try Data(contentsOf: file)
        var generator = SeededGenerator(seed: seed)
        let (changed, copy) = (scratch.url("changed.jsonl"), scratch.url("copy"))
        var refused = 0
        for _ in 0..<150 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: bytes[place] = Array("\"{}[]:,\\0e-".utf8).randomElement(using: &generator) ?? 0
                default: bytes.remove(at: place)
                }
            }
            try bytes.write(to: changed)
            do {
                let read = try TextTransfer().readJSONLines(changed.path, to: copy)
                #expect(read.objects == written.objects, "seed \(seed)")
                #expect(try StoreContents.of(copy).count > 0, "seed \(seed)")
                try FileManager.default.removeItem(at: copy)
            } catch {
                refused += 1
                #expect(!FileManager.default.fileExists(atPath: copy.path), "seed \(seed): \(error)")
            }
        }
        #expect(refused > 20, "seed \(seed)")
    }

    // MARK: Numbers and dates against the C library

    /// Digits that lost, got or changed a character are still the number that they say, or none.
    @Test(arguments: seeds.prefix(4)) func damagedNumbersAreNeverOtherNumbers(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var source = RandomText(seed: seed)
        let characters = Array("0123456789+-.,eEx _'\u{0}\u{660}inf")
        for _ in 0..<3_000 {
            var text = Array(Bool.random(using: &random) ? "\(source.double())" : source.decimal().stringValue)
            let place = Int.random(in: 0..<max(1, text.count), using: &random)
            guard let character = characters.randomElement(using: &random), !text.isEmpty else { continue }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text.insert(character, at: place)
            case 1: text[place] = character
            case 2: text.remove(at: place)
            default: break
            }
            let digits = String(text)
            let number = NumberText(digits)
            #expect(
                (number != nil) == (digits.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil),
                "\(digits)")
            guard let number else { continue }
            if let value = number.real(Double.self) { #expect(value.bitPattern == strtod(digits, nil).bitPattern) }
            // Foundation has no zero with a great exponent.
            let oracle = Decimal(string: digits) ?? (strtod(digits, nil) == 0 ? 0 : .nan)
            if let value = number.integer(Int64.self) { #expect(Decimal(value) == oracle, "\(digits)") }
            if let value = number.decimal {
                #expect(value == oracle, "\(digits)")
                #expect(NumberText("\(value)")?.decimal == value, "\(digits)")
            }
        }
    }

    @Test(
        arguments: [
            ("18446744073709551615", nil, 1.8446744073709552e+19, "18446744073709551615"),
            ("9223372036854775808", nil, 9.223372036854775808e18, "9223372036854775808"),
            ("-9223372036854775808", Int64.min, -9.223372036854775808e18, "-9223372036854775808"),
            ("-9223372036854775809", nil, -9.223372036854775808e18, "-9223372036854775809"),
            ("12e2", 1_200, 1_200, "1200"),
            ("1200e-2", 12, 12, "12"), ("1.50", nil, 1.5, "1.5"), ("1e400", nil, nil, nil), ("1e-400", nil, nil, nil),
            ("0e999999999999999999999", 0, 0, "0"), ("1e99999999999999999999", nil, nil, nil),
            (
                "340282366920938463463374607431768211455", nil, 3.402823669209385e38,
                "340282366920938463463374607431768211455"
            ),
            ("340282366920938463463374607431768211457", nil, 3.402823669209385e38, nil),
        ] as [(String, Int64?, Double?, String?)])
    func aNumberIsTakenWithAllItsDigits(_ text: String, _ integer: Int64?, _ real: Double?, _ decimal: String?) {
        let number = NumberText(text)
        #expect(number?.integer(Int64.self) == integer)
        #expect(number?.real(Double.self) == real)
        #expect(number?.decimal.map { "\($0)" } == decimal)
    }

    @Test(arguments: seeds.prefix(4)) func datesAreThoseOfTheCLibrary(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func digits(_ range: ClosedRange<Int>, _ count: Int = 2) -> String {
            let text = "\(Int.random(in: range, using: &random))"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        for _ in 0..<3_000 {
            let text =
                "\(digits(1583...9999, 4))-\(digits(0...13))-\(digits(0...32))T\(digits(0...25)):\(digits(0...61)):"
                + "\(digits(0...61))Z"
            let parts = text.split { !$0.isNumber }.compactMap { Int32($0) }
            var time = tm()
            (time.tm_year, time.tm_mon, time.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
            (time.tm_hour, time.tm_min, time.tm_sec) = (parts[3], parts[4], parts[5])
            let seconds = timegm(&time)
            // The C library rolls over; what it says then is not what was written.
            let isReal =
                [time.tm_year + 1900, time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec] == parts
            #expect(DateText.seconds(text) == (isReal ? Double(seconds) - 978_307_200 : nil), "\(text)")
        }
    }

    @Test(
        arguments: [
            ("2026-01-01T00:00:00.5Z", 788_918_400.5), ("2026-01-01T02:00:00+02:00", 788_918_400),
            ("2026-01-01T00:00:00-0030", 788_920_200), ("2026-01-01T02:00:00+02", 788_918_400),
            ("2026-02-30T00:00:00Z", nil), ("2026-02-29T00:00:00Z", nil), ("2024-02-29T00:00:00Z", 730_857_600),
            ("2026-01-01T25:00:00Z", nil), ("2026-01-01T24:00:00Z", nil), ("2026-01-01T00:60:00Z", nil),
            ("2026-01-01T00:00:60Z", nil), ("2026-01-01T00:00:00", nil), ("2026-01-01T00:00:00Zjunk", nil),
            ("2026-1-1T0:0:0Z", nil), ("2026-01-01 00:00:00Z", nil), ("1582-10-10T00:00:00Z", nil), ("", nil),
            ("2026-01-01T00:00:00.Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-01-01T00:00:00+24:00", nil),
        ] as [(String, Double?)])
    func daysAndTimesThatThereAreNotAreRefused(_ text: String, _ seconds: Double?) {
        #expect(DateText.seconds(text) == seconds)
    }
}
