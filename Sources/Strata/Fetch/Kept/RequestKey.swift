import Foundation

/// All that a fetch request says, in bytes: two requests with the same key have the same plan.
///
/// Only plain requests have one: for objects or IDs, with a predicate of comparisons of key paths with constants that
/// never change, and sort descriptors by key.
struct RequestKey: Hashable {
    private var bytes: [UInt8] = []

    /// More than this is not worth keeping.
    private static let byteCountMaximum = 1_024

    /// Nil for a request that is not plain.
    init?(_ settings: FetchSettings, _ resultClass: Any.Type) {
        guard settings.affectedStores == nil, settings.propertiesToFetch == nil, settings.propertiesToGroupBy == nil,
            settings.havingPredicate == nil, settings.relationshipKeyPathsForPrefetching == nil,
            !settings.returnsDistinctResults,
            settings.resultType == [] || settings.resultType == .managedObjectIDResultType
        else { return nil }
        bytes.reserveCapacity(192)
        append(UInt64(UInt(bitPattern: unsafeBitCast(resultClass, to: UnsafeRawPointer.self))))
        append(settings.entityName ?? "")
        append(settings.includesSubentities, settings.includesPropertyValues, settings.includesPendingChanges)
        append(
            settings.returnsObjectsAsFaults, settings.shouldRefreshRefetchedObjects,
            settings.resultType == .managedObjectIDResultType)
        append(UInt64(bitPattern: Int64(settings.fetchLimit)))
        append(UInt64(bitPattern: Int64(settings.fetchOffset)))
        append(UInt64(bitPattern: Int64(settings.fetchBatchSize)))
        for sort in settings.sortDescriptors ?? [] where !append(sort) { return nil }
        if let predicate = settings.predicate, !append(predicate) { return nil }
        if bytes.count > Self.byteCountMaximum { return nil }
    }

    static func == (left: RequestKey, right: RequestKey) -> Bool {
        left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                left.count == right.count
                    && (left.isEmpty || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0)
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    // MARK: Parts

    /// What comes next. Everything of variable length has its length or a count before it.
    private enum Tag: UInt8 {
        case sort, comparison, compound, object, path, aggregate
        case null, bool, signed, double, float, string, date, uuid
    }

    private mutating func append(_ tag: Tag) { bytes.append(tag.rawValue) }

    private mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ first: Bool, _ second: Bool, _ third: Bool) {
        bytes.append((first ? 1 : 0) | (second ? 2 : 0) | (third ? 4 : 0))
    }

    /// False for a descriptor with a comparator, a Swift key path, or a class of the program's own.
    private mutating func append(_ sort: NSSortDescriptor) -> Bool {
        guard type(of: sort) == KeySortDescriptor.self, let sort = sort as? KeySortDescriptor else { return false }
        append(.sort)
        switch sort.order {
        case .natural: append("")
        case .selector(let selector): append(selector.description)
        case .comparator: return false
        }
        append(sort.path.text)
        bytes.append(sort.ascending ? 1 : 0)
        return true
    }

    private mutating func append(_ predicate: NSPredicate) -> Bool {
        let type = type(of: predicate)
        if type == NSComparisonPredicate.self, let comparison = predicate as? NSComparisonPredicate {
            guard comparison.customSelector == nil else { return false }
            append(.comparison)
            bytes.append(UInt8(truncatingIfNeeded: comparison.predicateOperatorType.rawValue))
            bytes.append(UInt8(truncatingIfNeeded: comparison.options.rawValue))
            bytes.append(UInt8(truncatingIfNeeded: comparison.comparisonPredicateModifier.rawValue))
            return append(comparison.leftExpression) && append(comparison.rightExpression)
        }
        guard type == CompoundPredicate.self, let compound = predicate as? CompoundPredicate else { return false }
        append(.compound)
        append(UInt64(compound.compoundPredicateType.rawValue))
        append(UInt64(compound.children.count))
        for child in compound.children where !append(child) { return false }
        return true
    }

    private mutating func append(_ expression: NSExpression) -> Bool {
        guard type(of: expression) == NSExpression.self else { return false }
        switch expression.form {
        case .evaluatedObject: append(.object)
        case .keyPath(nil, let path):
            append(.path)
            append(path.text)
        case .constant(let value): return append(constant: value)
        case .aggregate(let elements):
            append(.aggregate)
            append(UInt64(elements.count))
            for element in elements where !append(element) { return false }
        default: return false
        }
        return true
    }

    /// False for a value that can change, or that is not known here.
    private mutating func append(constant value: Any?) -> Bool {
        guard let value else {
            append(.null)
            return true
        }
        return append(known: value)
    }

    private mutating func append(signed value: Int64, _ bits: UInt8) {
        append(.signed)
        bytes.append(bits)
        append(UInt64(bitPattern: value))
    }

    private mutating func append(known value: Any) -> Bool {
        let type = type(of: value)
        // An NSNumber casts to every type of number, so its own type is asked for first.
        if type == String.self, let text = value as? String {
            append(.string)
            append(text)
        } else if type == Int.self, let number = value as? Int {
            append(signed: Int64(number), 64)
        } else if type == Int32.self, let number = value as? Int32 {
            append(signed: Int64(number), 32)
        } else if type == Int16.self, let number = value as? Int16 {
            append(signed: Int64(number), 16)
        } else if type == Int64.self, let number = value as? Int64 {
            append(signed: number, 65)
        } else if type == Bool.self, let flag = value as? Bool {
            append(.bool)
            bytes.append(flag ? 1 : 0)
        } else if type == Double.self, let number = value as? Double {
            append(.double)
            append(number.bitPattern)
        } else if type == Float.self, let number = value as? Float {
            append(.float)
            append(UInt64(number.bitPattern))
        } else if type == Date.self, let date = value as? Date {
            append(.date)
            append(date.timeIntervalSinceReferenceDate.bitPattern)
        } else if type == UUID.self, let uuid = value as? UUID {
            append(.uuid)
            append(uuid.words.0)
            append(uuid.words.1)
        } else {
            return false
        }
        return true
    }
}
