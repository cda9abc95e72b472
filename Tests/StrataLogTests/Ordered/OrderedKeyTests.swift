import Testing

@testable import StrataLog

/// Keys of ordered indexes lie in the order of the values.
@Suite struct OrderedKeyTests {
    private func bytes<T>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private func check<T>(
        _ values: [T], _ kind: ValueKind, stored: (T) -> [UInt8], precedes: (T, T) -> Bool
    ) {
        for left in values {
            let a = stored(left).withUnsafeBytes { OrderedKey.component($0, kind) }
            #expect(OrderedKey.null.lexicographicallyPrecedes(a) && a.starts(with: OrderedKey.present))
            for right in values {
                let b = stored(right).withUnsafeBytes { OrderedKey.component($0, kind) }
                #expect(a.lexicographicallyPrecedes(b) == precedes(left, right), "\(kind): \(left) and \(right)")
                #expect((a == b) == (!precedes(left, right) && !precedes(right, left)), "\(kind): \(left), \(right)")
                // Keys of several elements are told apart at the first that differs.
                #expect(a == b || !b.starts(with: a), "\(kind): \(left) is the beginning of \(right)")
            }
        }
    }

    @Test func integersAndTruthValues() {
        check([Int16.min, -300, -1, 0, 1, 255, 256, .max], .int16, stored: bytes, precedes: <)
        check([Int32.min, -70_000, -1, 0, 1, 70_000, .max], .int32, stored: bytes, precedes: <)
        check([Int64.min, -1 << 40, -1, 0, 1, 1 << 40, .max], .int64, stored: bytes, precedes: <)
        check([UInt8(0), 1], .bool, stored: bytes, precedes: <)
    }

    @Test func floatingPointNumbers() {
        let values = [-Double.infinity, -1e300, -1.5, -0x1p-1074, -0.0, 0.0, 0x1p-1074, 1, 1.5, 1e300, .infinity]
        check(values, .double, stored: bytes, precedes: <)
        check(values, .date, stored: bytes, precedes: <)
        check([-Float.infinity, -2, -0.0, 0.0, 0x1p-149, 2, .infinity], .float, stored: bytes, precedes: <)
        #expect(bytes(Double.nan).withUnsafeBytes { OrderedKey.component($0, .double) } == OrderedKey.null)
    }

    @Test func textAndBytes() {
        let values = [
            "", "\0", "\0\0", "\u{1}", "\u{1}\0", "a", "a\0", "a\0b", "a\u{1}", "a\u{2}", "ab", "b", "é", "日本", "😀",
        ]
        check(values, .string, stored: { Array($0.utf8) }) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        check(values, .data, stored: { Array($0.utf8) }) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Exponent, sign, mantissa, as the object graph stores decimals; some numbers in several ways.
    @Test func decimals() {
        let values: [(Int, Int8)] = [
            (0, 0), (0, 5), (1, 0), (10, -1), (100, -2), (-1, 0), (-10, -1), (15, -1), (-15, -1), (123, 3), (-123, 3),
            (1, 127), (-1, 127), (1, -128), (-1, -128), (99, 0), (9, 1), (101, 0), (-99, 0), (-101, 0),
        ]
        func stored(_ value: (Int, Int8)) -> [UInt8] {
            var mantissa = value.0.magnitude
            var bytes = [UInt8(bitPattern: value.1), value.0 < 0 ? 1 : 0]
            while mantissa != 0 {
                bytes.append(UInt8(truncatingIfNeeded: mantissa))
                mantissa >>= 8
            }
            return bytes
        }
        /// All of them are below this many tens.
        func scaled(_ value: (Int, Int8)) -> (Int, [Int]) {
            var digits = String(value.0.magnitude).compactMap(\.wholeNumberValue)
            var exponent = Int(value.1) + digits.count
            while digits.last == 0, digits.count > 1 { digits.removeLast() }
            if digits == [0] { exponent = -1_000 }
            let sign = value.0.signum()
            return (sign, [exponent * sign] + digits.map { $0 * sign } + (sign < 0 ? [0] : []))
        }
        check(values, .decimal, stored: stored) { left, right in
            let (a, b) = (scaled(left), scaled(right))
            return a.0 == b.0 ? a.0 != 0 && a.1.lexicographicallyPrecedes(b.1) : a.0 < b.0
        }
    }

    @Test func identifiersAndReferences() {
        let uuids: [[UInt8]] = (0..<8).map { index in (0..<16).map { $0 == index * 2 ? 200 : UInt8($0) } }
        check(uuids, .uuid, stored: { $0 }) { $0.lexicographicallyPrecedes($1) }
        let refs = [(1, 1), (2, 1), (1, 2), (9, 2), (1, 1 << 40), (3, 1 << 40)].map {
            ObjectRef(entity: UInt16($0.0), key: UInt64($0.1))
        }
        check(refs, .reference, stored: { bytes($0.rawValue) }) { ($0.key, $0.entity) < ($1.key, $1.entity) }
    }

    @Test func descendingElementsAreTurnedOverAndLongTextIsCutOff() {
        let values = ["", "a", "ab", "b", String(repeating: "x", count: 2_000)].map { Array($0.utf8) }
        func key(_ value: [UInt8]?) -> [UInt8] {
            let batch = OrderedBatch()
            if let value {
                let isWhole = value.withUnsafeBytes { batch.append($0, .string, isDescending: true) }
                #expect(isWhole == (value.count <= OrderedKey.valueMaximumByteCount))
            } else {
                batch.appendNull(isDescending: true)
            }
            return Array(batch.pendingBytes)
        }
        for (left, right) in zip(values, values.dropFirst()) {
            #expect(key(right).lexicographicallyPrecedes(key(left)))
            #expect(key(left).lexicographicallyPrecedes(key(nil)))
        }
    }

    @Test func rangesOfPrefixes() {
        #expect(OrderedRange(prefix: [1, 2]).upper == [1, 3])
        #expect(OrderedRange(prefix: [1, 255, 255]).upper == [2])
        #expect(OrderedRange(prefix: [255]).upper == nil)
        #expect(OrderedRange(lower: [2], upper: [2]).isEmpty)
        #expect(!OrderedRange(lower: [2], upper: [2, 0]).isEmpty)
    }
}
