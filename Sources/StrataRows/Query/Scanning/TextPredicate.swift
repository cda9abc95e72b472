import CStrataSupport
import Foundation

/// A comparison of strings with a constant, on UTF-8 bytes, with the results of ``StringMatching``.
struct TextPredicate: Sendable {
    enum Operation: Sendable {
        case less, lessOrEqual, greater, greaterOrEqual, equal, notEqual
        case begins, ends, contains, like
    }

    let operation: Operation
    /// Case and diacritics, or nothing.
    let folding: NSComparisonPredicate.Options
    /// Folded.
    let pattern: [UInt8]

    init(_ operation: Operation, _ text: String, folding: NSComparisonPredicate.Options) {
        let folded = StringMatching.folded(text, folding)
        self.folding = folding
        guard operation == .like, let simple = Self.simplified(folded) else {
            self.operation = operation
            pattern = folded
            return
        }
        (self.operation, pattern) = simple
    }

    init(_ relation: Relation, _ text: String, folding: NSComparisonPredicate.Options) {
        let operation: Operation =
            switch relation {
            case .less: .less
            case .lessOrEqual: .lessOrEqual
            case .greater: .greater
            case .greaterOrEqual: .greaterOrEqual
            case .equal: .equal
            case .notEqual: .notEqual
            }
        self.init(operation, text, folding: folding)
    }

    var cost: Int { (operation == .contains || operation == .like ? 60 : 10) + (folding.isEmpty ? 0 : 100) }

    /// `x`, `x*`, `*x` and `*x*` are simpler questions.
    private static func simplified(_ pattern: [UInt8]) -> (Operation, [UInt8])? {
        guard !pattern.contains(UInt8(ascii: "?")), !pattern.contains(UInt8(ascii: "\\")) else { return nil }
        let star = UInt8(ascii: "*")
        let isOpenAtStart = pattern.first == star
        let isOpenAtEnd = pattern.count > 1 && pattern.last == star
        let inner = Array(pattern.dropFirst(isOpenAtStart ? 1 : 0).dropLast(isOpenAtEnd ? 1 : 0))
        guard !inner.isEmpty, !inner.contains(star) else { return nil }
        switch (isOpenAtStart, isOpenAtEnd) {
        case (false, false): return (.equal, inner)
        case (true, false): return (.ends, inner)
        case (false, true): return (.begins, inner)
        case (true, true): return (.contains, inner)
        }
    }

    /// Whether values are to be equal to a text as it is, or not, that takes no time to compare.
    var isBriefEquality: Bool {
        (operation == .equal || operation == .notEqual) && folding.isEmpty && pattern.count <= Self.briefMaximumBytes
    }

    private static let briefMaximumBytes = 256

    /// Whether the question is where the pattern occurs.
    var isSearch: Bool { operation == .contains && !pattern.isEmpty }

    /// Where the pattern occurs in bytes as they are; if case or diacritics do not count, in ASCII only. -1 where it
    /// does not.
    @inline(__always)
    func find(_ pattern: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Int {
        folding.contains(.caseInsensitive)
            ? strata_find_caseless(bytes.baseAddress, bytes.count, pattern.baseAddress, pattern.count)
            : strata_find(bytes.baseAddress, bytes.count, pattern.baseAddress, pattern.count)
    }

    /// Whether the comparison holds for a value.
    ///
    /// - Parameter scratch: for folded bytes; grows as needed.
    func holds(_ bytes: UnsafeRawBufferPointer, _ scratch: inout [UInt8]) -> Bool {
        if folding.isEmpty { return compare(bytes) }
        if isSearch, strata_find_beyond_ascii(bytes.baseAddress, bytes.count) < 0 {
            return pattern.withUnsafeBytes { find($0, in: bytes) >= 0 }
        }
        if scratch.count < bytes.count { scratch = Array(repeating: 0, count: bytes.count * 2) }
        let isASCII = scratch.withUnsafeMutableBytes { target in
            Self.fold(bytes, into: target, ignoresCase: folding.contains(.caseInsensitive))
        }
        if isASCII {
            return scratch.withUnsafeBytes { compare(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
        }
        // Unicode's rules: as the interpreter does it.
        return StringMatching.withFolded(String(decoding: bytes, as: UTF8.self), folding) { compare($0) }
    }

    /// Copies the bytes, without case if it does not count; false when they are not all ASCII.
    @inline(__always)
    static func fold(
        _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, ignoresCase: Bool
    ) -> Bool {
        strata_fold_ascii(bytes.baseAddress, bytes.count, target.baseAddress, ignoresCase)
    }

    private func compare(_ bytes: UnsafeRawBufferPointer) -> Bool {
        pattern.withUnsafeBytes { pattern in
            switch operation {
            case .equal: bytes.count == pattern.count && StringMatching.order(bytes, pattern) == 0
            case .notEqual: bytes.count != pattern.count || StringMatching.order(bytes, pattern) != 0
            case .less: StringMatching.order(bytes, pattern) < 0
            case .lessOrEqual: StringMatching.order(bytes, pattern) <= 0
            case .greater: StringMatching.order(bytes, pattern) > 0
            case .greaterOrEqual: StringMatching.order(bytes, pattern) >= 0
            case .begins: StringMatching.begins(bytes, pattern)
            case .ends: StringMatching.ends(bytes, pattern)
            case .contains:
                !pattern.isEmpty
                    && strata_find(bytes.baseAddress, bytes.count, pattern.baseAddress, pattern.count) >= 0
            case .like: StringMatching.isLike(bytes, pattern)
            }
        }
    }
}
