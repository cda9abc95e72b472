import Foundation

/// A fetch request taken apart: what it says, as the key of its plan, and the constants of its predicate, which are the
/// plan's parameters.
///
/// Requests whose predicates differ only in the values of their constants have the same key. The type of a constant is
/// a part of the key, since it decides which test a comparison becomes; so are null, an empty list, and the entity of
/// an object.
///
/// Only plain requests have a shape: without dictionaries, with a predicate of comparisons of key paths with constants,
/// and with sort descriptors by key. Others are planned anew each time.
struct RequestShape {
    private var bytes: [UInt8] = []
    private(set) var parameters: [PlanParameter] = []

    /// More than this is not worth keeping.
    private static let byteCountMaximum = 1_024
    /// Longer lists are not looked through: executing their requests takes longer than planning them.
    private static let elementsMaximum = 256

    var key: PlanKey { PlanKey(bytes) }

    /// Nil for a request that is not plain.
    init?<Result>(_ request: NSFetchRequest<Result>) {
        // Read one by one: a copy of all settings counts a dozen references.
        let form = request.stored.resultType
        guard request.affectedStores == nil, request.stored.propertiesToFetch == nil,
            request.stored.propertiesToGroupBy == nil, request.stored.havingPredicate == nil,
            form == [] || form == .managedObjectIDResultType || form == .countResultType
        else { return nil }
        bytes.reserveCapacity(256)
        append(UInt64(UInt(bitPattern: ObjectIdentifier(Result.self))))
        append(request.stored.entityName ?? "")
        append(
            request.stored.includesSubentities, request.stored.includesPropertyValues,
            request.stored.includesPendingChanges)
        append(
            request.stored.returnsObjectsAsFaults, request.stored.shouldRefreshRefetchedObjects,
            request.stored.returnsDistinctResults)
        bytes.append(UInt8(truncatingIfNeeded: form.rawValue))
        append(UInt64(bitPattern: Int64(request.stored.fetchLimit)))
        append(UInt64(bitPattern: Int64(request.stored.fetchOffset)))
        append(UInt64(bitPattern: Int64(request.stored.fetchBatchSize)))
        for path in request.stored.relationshipKeyPathsForPrefetching ?? [] {
            append(.prefetch)
            append(path)
        }
        for sort in request.stored.sortDescriptors ?? [] where !append(sort) { return nil }
        if let predicate = request.stored.predicate, !append(predicate.canonical) { return nil }
        if bytes.count > Self.byteCountMaximum { return nil }
    }

    // MARK: Parts

    /// What comes next. Everything of variable length has its length or a count before it.
    private enum Tag: UInt8 {
        case sort, prefetch, comparison, compound, truth, object, path, constant, list
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
            // Whether a pattern is a regular expression is asked of each one.
            guard comparison.customSelector == nil, comparison.predicateOperatorType != .matches else { return false }
            append(.comparison)
            bytes.append(UInt8(truncatingIfNeeded: comparison.predicateOperatorType.rawValue))
            bytes.append(UInt8(truncatingIfNeeded: comparison.options.rawValue))
            bytes.append(UInt8(truncatingIfNeeded: comparison.comparisonPredicateModifier.rawValue))
            return append(comparison.leftExpression) && append(comparison.rightExpression)
        }
        if type == CompoundPredicate.self, let compound = predicate as? CompoundPredicate {
            return append(compound.compoundPredicateType, compound.children)
        }
        if type == NSCompoundPredicate.self, let compound = predicate as? NSCompoundPredicate {
            return append(compound.compoundPredicateType, compound.subpredicates)
        }
        guard type == NSPredicate.self else { return false }
        let text = predicate.formatString
        guard text == "TRUEPREDICATE" || text == "FALSEPREDICATE" else { return false }
        append(.truth)
        append(text)
        return true
    }

    private mutating func append(_ type: NSCompoundPredicate.LogicalType, _ parts: [NSPredicate]) -> Bool {
        append(.compound)
        append(UInt64(type.rawValue))
        append(UInt64(parts.count))
        for part in parts where !append(part) { return false }
        return true
    }

    private mutating func append(_ expression: NSExpression) -> Bool {
        guard type(of: expression) == NSExpression.self else { return false }
        switch expression.form {
        case .evaluatedObject: append(.object)
        case .keyPath(nil, let path):
            append(.path)
            append(path.text)
        case .aggregate(let elements) where elements.count > Self.elementsMaximum: return false
        case let form:
            guard let value = form.constantValue else { return false }
            return append(PlanParameter(expression, value))
        }
        return true
    }

    // MARK: Constants

    private mutating func append(_ parameter: PlanParameter) -> Bool {
        guard case .list(let list) = parameter.operand else {
            append(.constant)
            guard append(typeOf: parameter.operand) else { return false }
            parameters.append(parameter)
            return true
        }
        guard list.elements.count <= Self.elementsMaximum else { return false }
        append(.list)
        append(list.isUnordered, list.isOrderedSet, false)
        // Two bounds, nothing at all, or any number.
        bytes.append(list.elements.isEmpty ? 0 : list.elements.count == 2 ? 2 : 1)
        var last: UInt8?
        for element in list.elements {
            // A list of values of one type, as most are, says it once.
            let start = bytes.count
            guard append(typeOf: Operand(AnyElements.plain(element))) else { return false }
            if bytes.count == start + 1, bytes[start] == last {
                bytes.removeLast()
            } else {
                last = bytes.count == start + 1 ? bytes[start] : nil
            }
        }
        append(.list)
        parameters.append(parameter)
        return true
    }

    /// False for a value of which a plan cannot know what it is compared as.
    private mutating func append(typeOf operand: Operand) -> Bool {
        // Above the tags, so that a list ends with one.
        switch operand {
        case .null: bytes.append(128)
        case .integer: bytes.append(129)
        case .double: bytes.append(130)
        case .decimal: bytes.append(131)
        case .string: bytes.append(132)
        case .date: bytes.append(133)
        case .data: bytes.append(134)
        case .uuid: bytes.append(135)
        case .url: bytes.append(136)
        case .object(let object):
            guard let id = object as? NSManagedObjectID else { return false }
            bytes.append(id.isTemporaryID ? 137 : 138)
            append(UInt64(UInt(bitPattern: Unmanaged.passUnretained(id.shape).toOpaque())))
        case .list, .dictionary: return false
        }
        return true
    }
}
