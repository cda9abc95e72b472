import Foundation
import StrataTestKit
import Testing

@testable import Strata
@testable import StrataRows

/// Decimals as they are stored, against Foundation's.
@Suite struct ColumnDecimalTests {
    /// Few digits or many, near each other or far apart, with zeros at the end.
    private static func decimal(_ random: inout SeededGenerator) -> Decimal {
        let text: String =
            switch random.below(6) {
            case 0: "\(random.below(7) - 3)"
            case 1: "\(random.below(4_000) - 2_000)"
            case 2: (0..<(1 + random.below(38))).map { _ in "\(random.below(10))" }.joined()
            case 3: "999999999999999" + ["", "9", "90", "8", "99999999999999999999999"][random.below(5)]
            case 4: "3402823669209384634633746074317682114" + "\(random.below(100))"
            default: "\(random.below(1_000_000_000))" + String(repeating: "0", count: random.below(12))
            }
        let exponents = random.chance(0.7) ? -3...3 : -100...80
        let exponent = exponents.lowerBound + random.below(exponents.count)
        let magnitude = Decimal(string: text.replacingOccurrences(of: "-", with: "")) ?? 0
        let sign: FloatingPointSign = text.hasPrefix("-") || random.chance(0.3) ? .minus : .plus
        return Decimal(sign: sign, exponent: exponent, significand: magnitude)
    }

    private static func stored(_ value: Decimal) throws -> ColumnDecimal {
        try DecimalCoding.encode(value).withUnsafeBytes { try #require(ColumnDecimal($0)) }
    }

    private static func order(_ left: Decimal, _ right: Decimal) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    @Test(arguments: RandomRuns.seeds(from: 900, count: 4)) func theyAreOrderedAsFoundationOrdersThem(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let left = Self.decimal(&random)
            // Every third is the same number or one next to it.
            let right =
                switch random.below(3) {
                case 0: left
                case 1: left + Decimal(sign: .plus, exponent: left.exponent, significand: 1)
                default: Self.decimal(&random)
                }
            let (a, b) = (try Self.stored(left), try Self.stored(right))
            let order = Self.order(left, right)
            #expect(ColumnDecimal.order(a, b) == order, "seed \(seed): \(left), \(right)")
            #expect(ColumnDecimal.order(b, a) == -order, "seed \(seed): \(right), \(left)")
            if a.code != b.code { #expect((a.code < b.code) == (left < right), "seed \(seed): \(left), \(right)") }
            #expect(a.decimal == left && a.code != 0, "seed \(seed): \(left)")
            let areSameBytes = a.withCanonicalBytes { a in b.withCanonicalBytes { a.elementsEqual($0) } }
            #expect(areSameBytes == (left == right), "seed \(seed): \(left), \(right)")
        }
    }

    @Test(arguments: RandomRuns.seeds(from: 950, count: 4)) func sumsAreExactOrRefused(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var exact = 0
        for _ in 0..<2_000 {
            var (left, right, sum) = (Self.decimal(&random), Self.decimal(&random), Decimal())
            guard let found = ColumnDecimal.sum(try Self.stored(left), try Self.stored(right)) else { continue }
            exact += 1
            guard NSDecimalAdd(&sum, &left, &right, .plain) == .noError else { continue }
            #expect(found.decimal == sum, "seed \(seed): \(left), \(right)")
        }
        #expect(exact > 500)
    }

    @Test(arguments: RandomRuns.seeds(from: 970, count: 4)) func productsAreExactOrRefused(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var exact = 0
        for _ in 0..<2_000 {
            var (left, right, product) = (Self.decimal(&random), Self.decimal(&random), Decimal())
            guard let found = ColumnDecimal.product(try Self.stored(left), try Self.stored(right)) else { continue }
            exact += 1
            guard NSDecimalMultiply(&product, &left, &right, .plain) == .noError else { continue }
            #expect(found.decimal == product, "seed \(seed): \(left), \(right)")
        }
        #expect(exact > 500)
    }

    @Test(arguments: [0, 1, -1, 0.1, 9.99, 1e20, -2.5e-7, 123_456_789.125, 0x1p53, Double(Float(0.1))])
    func numbersAreTheDecimalsOfTheirShortestNotation(_ value: Double) throws {
        let decimal = try #require(ColumnDecimal(shortest: value))
        #expect(decimal.decimal == Decimal(string: value.description))
        #expect(ColumnDecimal(shortest: .infinity) == nil && ColumnDecimal(shortest: .nan) == nil)
        for integer in [Int64.min, -1, 0, 7, .max] { #expect(ColumnDecimal(integer).decimal == Decimal(integer)) }
    }

    @Test func whatIsNoNumberHasNoOrder() {
        DecimalCoding.encode(.nan).withUnsafeBytes { #expect(ColumnDecimal($0) == nil) }
        #expect(ColumnDecimal(Decimal.nan) == nil)
    }
}
