import CStrataSupport
import Foundation

/// String comparisons of predicates, on UTF-8 bytes.
///
/// Without options strings compare scalar by scalar, so that a composed and a decomposed "é" differ, as they do in a
/// store's bytes. Case- and diacritic-insensitive comparisons compare folded bytes. Scans call these for each row.
@usableFromInline
package enum StringMatching {
    /// -1, 0 or 1 by Unicode scalars. Complexity: O(n).
    static func order(_ left: String, _ right: String) -> Int {
        var left = left
        var right = right
        return left.withUTF8 { left in
            right.withUTF8 { right in order(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right)) }
        }
    }

    /// Hands out the bytes of a string after folding away what the options ignore.
    ///
    /// Nothing is allocated for text in ASCII or when nothing is ignored. Complexity: O(n).
    package static func withFolded(
        _ string: String, _ options: NSComparisonPredicate.Options, _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        var string = string
        if options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) {
            return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
        let ignoresCase = options.contains(.caseInsensitive)
        let result: Bool? = string.withUTF8 { utf8 in
            withUnsafeTemporaryAllocation(byteCount: utf8.count, alignment: 1) { buffer in
                let isASCII = strata_fold_ascii(utf8.baseAddress, utf8.count, buffer.baseAddress, ignoresCase)
                return isASCII ? body(UnsafeRawBufferPointer(buffer)) : nil
            }
        }
        return result ?? foldedSlowly(string, options).withUnsafeBytes(body)
    }

    /// The bytes of a string after folding away what the options ignore. Complexity: O(n).
    package static func folded(_ string: String, _ options: NSComparisonPredicate.Options) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = withFolded(string, options) { folded in
            bytes = Array(folded)
            return true
        }
        return bytes
    }

    private static func foldedSlowly(_ string: String, _ options: NSComparisonPredicate.Options) -> [UInt8] {
        var folding: String.CompareOptions = []
        if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
        // Composed and decomposed forms count as the same text as soon as anything is folded.
        let folded = TextPieces.changed(string) {
            $0.precomposedStringWithCanonicalMapping.folding(options: folding, locale: nil)
        }
        return Array(folded.utf8)
    }

    /// Whether `text` contains `part`; an empty part is in nothing, as in Foundation. Complexity: O(n).
    static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        !part.isEmpty && strata_find(text.baseAddress, text.count, part.baseAddress, part.count) >= 0
    }

    /// Whether `text` starts with `part`; nothing starts with an empty part.
    @inlinable
    package static func begins(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= text.count, let start = text.baseAddress, let wanted = part.baseAddress else {
            return false
        }
        return !part.isEmpty && memcmp(start, wanted, part.count) == 0
    }

    /// Whether `text` ends with `part`; nothing ends with an empty part.
    @inlinable
    package static func ends(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= text.count, let start = text.baseAddress, let wanted = part.baseAddress else {
            return false
        }
        return !part.isEmpty && memcmp(start + (text.count - part.count), wanted, part.count) == 0
    }

    /// -1, 0 or 1 byte by byte.
    @inlinable
    package static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let shared = min(left.count, right.count)
        if shared > 0, let leftStart = left.baseAddress, let rightStart = right.baseAddress {
            let order = memcmp(leftStart, rightStart, shared)
            if order != 0 { return order < 0 ? -1 : 1 }
        }
        return left.count == right.count ? 0 : (left.count < right.count ? -1 : 1)
    }

    /// Whether `text` matches a pattern of `?` (one character), `*` (any number) and `\` (the next character itself).
    ///
    /// - Complexity: O(text × pattern) at worst, linear for patterns with one star; no recursion, no allocation.
    package static func isLike(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        var textIndex = 0
        var patternIndex = 0
        var star: (pattern: Int, text: Int)?
        var untilStep = bytesPerStep
        while textIndex < text.count {
            untilStep -= 1
            if untilStep == 0 {
                guard EvaluationWork.step() else { return false }
                untilStep = bytesPerStep
            }
            if patternIndex < pattern.count, pattern[patternIndex] == UInt8(ascii: "*") {
                patternIndex += 1
                star = (patternIndex, textIndex)
                continue
            }
            if let step = step(text, textIndex, pattern, patternIndex) {
                textIndex += step.text
                patternIndex += step.pattern
                continue
            }
            guard let last = star else { return false }
            textIndex = last.text + scalarWidth(text, last.text)
            patternIndex = last.pattern
            star = (last.pattern, textIndex)
        }
        while patternIndex < pattern.count, pattern[patternIndex] == UInt8(ascii: "*") { patternIndex += 1 }
        return patternIndex == pattern.count
    }

    /// How many bytes are compared in about a step of evaluating.
    private static let bytesPerStep = 64
    /// What a regular expression does between two questions, in steps of evaluating.
    private static let stepsOfProgress = 1_000

    private static func step(
        _ text: UnsafeRawBufferPointer, _ textIndex: Int, _ pattern: UnsafeRawBufferPointer, _ patternIndex: Int
    ) -> (text: Int, pattern: Int)? {
        guard patternIndex < pattern.count else { return nil }
        let byte = pattern[patternIndex]
        if byte == UInt8(ascii: "?") { return (scalarWidth(text, textIndex), 1) }
        if byte == UInt8(ascii: "\\"), patternIndex + 1 < pattern.count {
            return pattern[patternIndex + 1] == text[textIndex] ? (1, 2) : nil
        }
        return byte == text[textIndex] ? (1, 1) : nil
    }

    private static func scalarWidth(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int {
        let width =
            switch bytes[index] {
            case 0xF0...: 4
            case 0xE0...: 3
            case 0xC0...: 2
            default: 1
            }
        return min(width, bytes.count - index)
    }

    /// The expression that a `MATCHES` pattern stands for, which has to match the whole string; `nil` for a faulty
    /// pattern.
    static func regularExpression(
        _ pattern: String, _ options: NSComparisonPredicate.Options
    ) -> NSRegularExpression? {
        var pattern = pattern
        if options.contains(.diacriticInsensitive) {
            pattern = pattern.folding(options: .diacriticInsensitive, locale: nil)
        }
        // Checked alone first: wrapping it would turn the faulty "a)(b" into a good one.
        guard (try? NSRegularExpression(pattern: pattern)) != nil else { return nil }
        return try? NSRegularExpression(
            pattern: "\\A(?:" + pattern + ")\\z",
            options: options.contains(.caseInsensitive) ? [.caseInsensitive] : [])
    }

    /// Whether the whole of `text` matches.
    static func matches(
        _ text: String, _ expression: NSRegularExpression, _ options: NSComparisonPredicate.Options
    ) -> Bool {
        let text =
            options.contains(.diacriticInsensitive)
            ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        let range = NSRange(location: 0, length: text.utf16.count)
        if EvaluationWork.current == nil { return expression.firstMatch(in: text, range: range) != nil }
        var isMatch = false
        // Some expressions take ages on some texts; this way they ask now and then.
        expression.enumerateMatches(in: text, options: .reportProgress, range: range) { result, flags, stop in
            if result != nil {
                isMatch = true
                stop.pointee = true
            } else if flags.contains(.progress), !EvaluationWork.step(stepsOfProgress) {
                stop.pointee = true
            }
        }
        return isMatch
    }
}
