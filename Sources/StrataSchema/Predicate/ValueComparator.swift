import Foundation

/// One comparison operator with its options, and its right side prepared when that is a constant.
package struct ValueComparator {
    package typealias Operator = NSComparisonPredicate.Operator
    package typealias Options = NSComparisonPredicate.Options

    /// A constant right side in the form that the operator wants.
    private enum Prepared {
        case none
        case operand(Operand)
        case text([UInt8])
        case expression(NSRegularExpression?)
        case members(Set<Operand.Key>)
        case foldedMembers(Set<[UInt8]>)
        case range(Operand, Operand)
    }

    private let type: Operator
    /// Options without effect are gone: `[n]` turns the others off.
    private let options: Options
    private let prepared: Prepared
    /// Whether what is prepared stays as it is.
    let isFinal: Bool

    private var folds: Bool { !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) }

    /// Whether the right side need not be evaluated.
    var hasPreparedRight: Bool {
        if case .none = prepared { return false }
        return true
    }

    package init(_ type: Operator, _ options: Options, right: NSExpression) {
        self.type = type
        self.options = options.contains(.normalized) ? [] : options
        guard let value = right.form.constantValue else {
            (prepared, isFinal) = (.none, true)
            return
        }
        prepared = Self.prepare(type, self.options, value)
        isFinal = Self.isFinal(value)
    }

    private static func isFinal(_ value: Any?) -> Bool {
        switch Operand(AnyElements.plain(value)) {
        case .object: (value as? any PredicateIdentifiable)?.hasFinalPredicateIdentity ?? true
        case .list(let elements): elements.elements.allSatisfy(isFinal)
        case .dictionary(let dictionary): dictionary.anyValues.allSatisfy(isFinal)
        default: true
        }
    }

    private static func prepare(_ type: Operator, _ options: Options, _ value: Any?) -> Prepared {
        let operand = Operand(value)
        let folds = !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        switch (type, operand) {
        case (.customSelector, _): return .none
        case (.matches, .string(let pattern)): return .expression(Self.expression(pattern, options))
        case (.like, .string(let text)), (.beginsWith, .string(let text)), (.endsWith, .string(let text)),
            (.contains, .string(let text)):
            return .text(StringMatching.folded(text, options))
        case (.equalTo, .string(let text)) where folds, (.notEqualTo, .string(let text)) where folds,
            (.lessThan, .string(let text)) where folds, (.lessThanOrEqualTo, .string(let text)) where folds,
            (.greaterThan, .string(let text)) where folds, (.greaterThanOrEqualTo, .string(let text)) where folds:
            return options.contains(.localeSensitive) ? .operand(operand) : .text(StringMatching.folded(text, options))
        case (.in, .list), (.in, .dictionary): return prepareMembers(operand.members ?? [], options, folds: folds)
        case (.between, .list(let elements)) where elements.elements.count == 2 && !elements.isUnordered:
            return .range(
                Operand(AnyElements.plain(elements.elements[0])), Operand(AnyElements.plain(elements.elements[1])))
        default: return .operand(operand)
        }
    }

    /// Nil for a faulty pattern, which nothing matches: a fetch throws for it, evaluating a predicate has no way to.
    private static func expression(_ pattern: String, _ options: Options) -> NSRegularExpression? {
        if let expression = RegularExpressionCache.expression(pattern, options) { return expression }
        Warnings.once("the pattern of a MATCHES is no regular expression, and nothing matches it")
        return nil
    }

    private static func prepareMembers(_ members: [Any?], _ options: Options, folds: Bool) -> Prepared {
        let operands = members.map { Operand(AnyElements.plain($0)) }
        // Texts that a locale takes for equal need not have the same bytes, in whatever form: each is compared.
        let hasText = operands.contains { if case .string = $0 { true } else { false } }
        if hasText, options.contains(.localeSensitive) { return .none }
        if folds {
            var texts: Set<[UInt8]> = []
            for operand in operands {
                guard case .string(let text) = operand else { return .none }
                texts.insert(StringMatching.folded(text, options))
            }
            return .foldedMembers(texts)
        }
        return .members(Set(operands.map { Operand.Key($0) }))
    }

    /// Whether `left operator right` holds; `right` is not looked at when it was prepared.
    package func holds(_ left: Any?, _ right: Any?) -> Bool {
        let left = Operand(left)
        switch prepared {
        case .none: return compared(left, Operand(right))
        case .operand(let right): return compared(left, right)
        case .text(let right):
            switch (type, left) {
            case (_, .string(let text)):
                return right.withUnsafeBytes { right in
                    StringMatching.withFolded(text, options) { compare($0, right) }
                }
            case (.contains, .list), (.contains, .dictionary):
                return isMember(.string(String(decoding: right, as: UTF8.self)), of: left)
            default: return type == .notEqualTo
            }
        case .expression(let expression):
            guard let expression, case .string(let text) = left else { return false }
            return StringMatching.matches(text, expression, options)
        case .members(let members):
            if case .null = left { return false }
            return members.contains(Operand.Key(left))
        case .foldedMembers(let members):
            guard case .string(let text) = left else { return false }
            return members.contains(StringMatching.folded(text, options))
        case .range(let low, let high): return isBetween(left, low, high)
        }
    }

    private func compared(_ left: Operand, _ right: Operand) -> Bool {
        switch type {
        case .equalTo: return equals(left, right)
        case .notEqualTo: return !equals(left, right)
        case .lessThan: return order(left, right).map { $0 < 0 } ?? false
        case .lessThanOrEqualTo: return order(left, right).map { $0 <= 0 } ?? false
        case .greaterThan: return order(left, right).map { $0 > 0 } ?? false
        case .greaterThanOrEqualTo: return order(left, right).map { $0 >= 0 } ?? false
        case .in: return isIn(left, right)
        case .contains: return isIn(right, left)
        case .between:
            // The two values of a set have no order and so are no bounds.
            guard case .list(let bounds) = right, !bounds.isUnordered, bounds.elements.count == 2 else { return false }
            let (low, high) = (AnyElements.plain(bounds.elements[0]), AnyElements.plain(bounds.elements[1]))
            return isBetween(left, Operand(low), Operand(high))
        case .like, .beginsWith, .endsWith:
            guard case .string(let left) = left, case .string(let right) = right else { return false }
            return compare(left, right)
        case .matches:
            guard case .string(let left) = left, case .string(let right) = right,
                let expression = Self.expression(right, options)
            else { return false }
            return StringMatching.matches(left, expression, options)
        case .customSelector: return false
        }
    }

    /// Applies a string operator to two strings.
    private func compare(_ left: String, _ right: String) -> Bool {
        StringMatching.withFolded(right, options) { right in
            StringMatching.withFolded(left, options) { compare($0, right) }
        }
    }

    /// Applies a string operator to folded bytes.
    private func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard TextPieces.step(left.count) else { return false }
        return switch type {
        case .equalTo: StringMatching.order(left, right) == 0
        case .notEqualTo: StringMatching.order(left, right) != 0
        case .lessThan: StringMatching.order(left, right) < 0
        case .lessThanOrEqualTo: StringMatching.order(left, right) <= 0
        case .greaterThan: StringMatching.order(left, right) > 0
        case .greaterThanOrEqualTo: StringMatching.order(left, right) >= 0
        case .like: StringMatching.isLike(left, right)
        case .beginsWith: StringMatching.begins(left, right)
        case .endsWith: StringMatching.ends(left, right)
        case .contains: StringMatching.contains(left, right)
        case .in: StringMatching.contains(right, left)
        case .matches, .customSelector, .between: false
        }
    }

    private func order(_ left: Operand, _ right: Operand) -> Int? {
        guard case .string(let leftText) = left, case .string(let rightText) = right,
            folds || options.contains(.localeSensitive)
        else { return left.compare(right) }
        if options.contains(.localeSensitive) {
            var comparing: String.CompareOptions = []
            if options.contains(.caseInsensitive) { comparing.insert(.caseInsensitive) }
            if options.contains(.diacriticInsensitive) { comparing.insert(.diacriticInsensitive) }
            return leftText.compare(rightText, options: comparing, range: nil, locale: .current).rawValue
        }
        var result = 0
        _ = StringMatching.withFolded(leftText, options) { left in
            StringMatching.withFolded(rightText, options) { right in
                result = StringMatching.order(left, right)
                return true
            }
        }
        return result
    }

    private func equals(_ left: Operand, _ right: Operand) -> Bool {
        if case .string = left, case .string = right { return order(left, right) == 0 }
        return left.equals(right)
    }

    private func isIn(_ left: Operand, _ right: Operand) -> Bool {
        if case .string(let text) = right {
            guard case .string(let part) = left else { return false }
            return StringMatching.withFolded(text, options) { text in
                TextPieces.step(text.count)
                    && StringMatching.withFolded(part, options) { StringMatching.contains(text, $0) }
            }
        }
        return isMember(left, of: right)
    }

    private func isMember(_ value: Operand, of collection: Operand) -> Bool {
        if case .null = value { return false }
        guard let members = collection.members else { return false }
        return members.contains { equals(value, Operand(AnyElements.plain($0))) }
    }

    private func isBetween(_ value: Operand, _ low: Operand, _ high: Operand) -> Bool {
        guard let lower = order(low, value), let upper = order(value, high) else { return false }
        return lower <= 0 && upper <= 0
    }
}
