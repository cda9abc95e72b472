import Foundation
import StrataSupport

/// Lets an extension's initialiser return a subclass. Only `NSSortDescriptor` is meant to conform.
///
/// Foundation declares `NSSortDescriptor(key:…)` on Linux, but unavailable, and a class's own extension cannot assign
/// `self`. A protocol's extension can.
public protocol KeyedSortDescriptorFactory {}

extension NSSortDescriptor: KeyedSortDescriptorFactory {}

extension KeyedSortDescriptorFactory {
    /// Sorts by the value at a key path; `nil` comes before everything else when ascending.
    ///
    /// Numbers, strings (by Unicode scalars), dates, UUIDs and data are ordered; values that cannot be compared are
    /// equal. A `nil` key compares the objects themselves.
    public init(key: String?, ascending: Bool) {
        self.init(keyed: KeySortDescriptor(key: key ?? "self", ascending: ascending, order: .natural))
    }

    /// Sorts by the value at a key path with a comparison known by name: `compare:`, `caseInsensitiveCompare:`,
    /// `localizedCompare:`, `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`.
    ///
    /// Any other name stops the program: there is no selector dispatch on Linux.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        let order = selector.map { KeySortDescriptor.Order.selector($0) } ?? .natural
        self.init(keyed: KeySortDescriptor(key: key ?? "self", ascending: ascending, order: order))
    }

    /// Sorts by the value at a key path with a comparison of yours, which never sees `nil`.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self.init(keyed: KeySortDescriptor(key: key ?? "self", ascending: ascending, order: .comparator(comparator)))
    }

    private init(keyed descriptor: KeySortDescriptor) {
        guard let descriptor = descriptor as? Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSSortDescriptor cannot be made from a key", "Create an NSSortDescriptor"
            )
        }
        self = descriptor
    }

    /// The key path by name; `nil` for a descriptor made from a Swift key path whose property cannot be found out.
    public var key: String? {
        if let keyed = self as? KeySortDescriptor { return keyed.path.text }
        return (self as? NSSortDescriptor).flatMap { PropertyNames.name(of: $0.keyPath) }
    }

    /// The named comparison; `nil` for a comparator or a descriptor made from a Swift key path.
    public var selector: Selector? {
        (self as? KeySortDescriptor)?.selectorName.map { Selector($0) }
    }
}

extension Sequence {
    /// The elements sorted by the descriptors, the first one first. The order is stable. Complexity: O(n log n)
    /// comparisons.
    public func sorted(using descriptors: [NSSortDescriptor]) -> [Element] {
        sorted { left, right in
            for descriptor in descriptors {
                switch descriptor.compare(left, to: right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }
}
