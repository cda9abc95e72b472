import Foundation
import StrataSupport

/// A sort descriptor that knows its key by name; what `NSSortDescriptor(key:ascending:)` makes.
package final class KeySortDescriptor: NSSortDescriptor {
    /// How two values are compared.
    package enum Order {
        case natural
        case selector(Selector)
        case comparator(Comparator)
    }

    /// What the key path handed to Foundation starts at, which wants one. A constant: making a key path with a key in
    /// it takes longer than all else here, and nobody reads it.
    package struct Root {
        package let value: Int
    }

    package let path: KeyPathComponents
    package let order: Order
    private let compareValues: @Sendable (Any, Any) -> ComparisonResult

    package init(key: String, ascending: Bool, order: Order) {
        path = KeyPathComponents(key)
        self.order = order
        switch order {
        case .natural, .comparator: compareValues = Self.naturalOrder
        case .selector(let selector): compareValues = Self.order(named: selector)
        }
        super.init(keyPath: \Root.value, ascending: ascending)
    }

    package required init?(coder: NSCoder) {
        return nil
    }

    package override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let left = KeyValueAccess.value(of: object1, path: path)
        let right = KeyValueAccess.value(of: object2, path: path)
        let result: ComparisonResult =
            switch (left, right) {
            case (nil, nil): .orderedSame
            case (nil, let right?): Operand(right).isNothing ? .orderedSame : .orderedAscending
            case (let left?, nil): Operand(left).isNothing ? .orderedSame : .orderedDescending
            case (let left?, let right?): orderOf(left, right)
            }
        guard !ascending else { return result }
        switch result {
        case .orderedAscending: return .orderedDescending
        case .orderedDescending: return .orderedAscending
        case .orderedSame: return .orderedSame
        }
    }

    /// The order of two values of the key path, ascending.
    package func orderOf(_ left: Any, _ right: Any) -> ComparisonResult {
        if case .comparator(let comparator) = order { return comparator(left, right) }
        return compareValues(left, right)
    }

    package override var reversedSortDescriptor: Any {
        KeySortDescriptor(key: path.text, ascending: !ascending, order: order)
    }

    package override func copy(with zone: NSZone? = nil) -> Any { self }

    package override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        if self === other { return true }
        guard path == other.path, ascending == other.ascending else { return false }
        switch (order, other.order) {
        case (.natural, .natural): return true
        case (.selector(let left), .selector(let right)): return left == right
        default: return false
        }
    }

    package override var hash: Int { path.text.hashValue }

    package override var description: String {
        "(\(path.text), \(ascending ? "ascending" : "descending"), \(selectorName ?? "comparator"))"
    }

    /// Whether values are compared by their natural order.
    package var isNatural: Bool {
        if case .natural = order { return true }
        return false
    }

    /// The selector that stands for the order; `nil` for a comparator.
    package var selectorName: String? {
        switch order {
        case .natural: "compare:"
        case .selector(let selector): selector.description
        case .comparator: nil
        }
    }

    private static let naturalOrder: @Sendable (Any, Any) -> ComparisonResult = { left, right in
        Operand(left).order(Operand(right))
    }

    private static func order(named selector: Selector) -> @Sendable (Any, Any) -> ComparisonResult {
        switch selector.description {
        case "compare:": naturalOrder
        case "caseInsensitiveCompare:": strings([.caseInsensitive], isLocalized: false)
        case "localizedCompare:": strings([], isLocalized: true)
        case "localizedCaseInsensitiveCompare:": strings([.caseInsensitive], isLocalized: true)
        case "localizedStandardCompare:":
            strings([.caseInsensitive, .numeric, .widthInsensitive, .forcedOrdering], isLocalized: true)
        default:
            programmerError(
                "NSSortDescriptor(key:ascending:selector:)", "no comparison is called \(selector)",
                "Pass a comparator instead of a selector")
        }
    }

    private static func strings(
        _ options: String.CompareOptions, isLocalized: Bool
    ) -> @Sendable (Any, Any) -> ComparisonResult {
        { left, right in
            guard let left = left as? String, let right = right as? String else { return naturalOrder(left, right) }
            return left.compare(right, options: options, range: nil, locale: isLocalized ? .current : nil)
        }
    }
}
