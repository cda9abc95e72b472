import Foundation

/// A fetch request taken apart: what it says, as the key of its plan, and the constants of its predicate, which are the
/// plan's parameters.
///
/// Requests whose predicates differ only in the values of their constants have the same key. The type of a constant is
/// a part of the key, since it decides which test a comparison becomes; so are null, an empty list, and the entity of
/// an object. Constants that are no side of a comparison, as the 2 in `price * 2 > 10`, are a part of the key by their
/// values.
///
/// Requests with blocks, fetches or the program's own methods, functions of which each call has another value, sort
/// descriptors with comparators, or stores of their own have no shape. They are planned anew each time.
struct RequestShape {
    private var bytes: [UInt8] = []
    private(set) var parameters: [PlanParameter] = []
    /// Whether values of constants are a part of the key: then the same request may not come again.
    private(set) var hasLiterals = false
    /// Whether those that come next are.
    private var isLiteral: Bool

    /// More than this is not worth keeping.
    private static let byteCountMaximum = 2_048
    /// Longer lists are not looked through: executing their requests takes longer than planning them.
    private static let elementsMaximum = 256

    var key: PlanKey { PlanKey(bytes) }

    /// Nil for a request that has none.
    ///
    /// - Parameter isLiteral: whether all constants are a part of the key: for requests some of whose constants a plan
    ///   cannot have as parameters, since it has converted them, say.
    init?<Result>(_ request: NSFetchRequest<Result>, isLiteral: Bool = false) {
        self.isLiteral = isLiteral
        // Read one by one: a copy of all settings counts a dozen references.
        let form = request.stored.resultType
        guard request.affectedStores == nil,
            form == [] || form == .managedObjectIDResultType || form == .countResultType
                || form == .dictionaryResultType
        else { return nil }
        bytes.reserveCapacity(256)
        let loading = Self.bits(
            request.stored.includesSubentities, request.stored.includesPropertyValues,
            request.stored.includesPendingChanges)
        let result = Self.bits(
            request.stored.returnsObjectsAsFaults, request.stored.shouldRefreshRefetchedObjects,
            request.stored.returnsDistinctResults)
        let bits = UInt64(loading) | UInt64(result) << 8 | UInt64(truncatingIfNeeded: form.rawValue) << 16
        // Written together: each piece by itself is a call that checks the array.
        let head = (
            UInt64(UInt(bitPattern: ObjectIdentifier(Result.self))), bits, request.stored.fetchLimit,
            request.stored.fetchOffset, request.stored.fetchBatchSize
        )
        withUnsafeBytes(of: head) { bytes.append(contentsOf: $0) }
        append(request.stored.entityName ?? "")
        for path in request.stored.relationshipKeyPathsForPrefetching ?? [] {
            append(.prefetch)
            append(path)
        }
        guard append(request.stored.propertiesToFetch, .fetched), append(request.stored.propertiesToGroupBy, .grouped)
        else { return nil }
        for sort in request.stored.sortDescriptors ?? [] where !append(sort) { return nil }
        if let having = request.stored.havingPredicate {
            append(.having)
            guard literally({ $0.append(having.canonical) }) else { return nil }
        }
        if let predicate = request.stored.predicate, !append(predicate.canonical) { return nil }
        if bytes.count > Self.byteCountMaximum { return nil }
    }

    // MARK: Parts

    /// What comes next. Everything of variable length has its length or a count before it.
    private enum Tag: UInt8 {
        case sort, prefetch, comparison, compound, truth, object, path, constant, list
        case fetched, grouped, computed, having, literal, elements, variable, function, subquery, conditional, operand
    }

    private mutating func append(_ tag: Tag) { bytes.append(tag.rawValue) }

    private mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private static func bits(_ first: Bool, _ second: Bool, _ third: Bool) -> UInt8 {
        (first ? 1 : 0) | (second ? 2 : 0) | (third ? 4 : 0)
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
            guard comparison.customSelector == nil, isLiteral || comparison.predicateOperatorType != .matches,
                bytes.count <= Self.byteCountMaximum
            else { return false }
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
        guard type(of: expression) == NSExpression.self, bytes.count <= Self.byteCountMaximum else { return false }
        switch expression.form {
        case .evaluatedObject: append(.object)
        case .keyPath(nil, let path):
            append(.path)
            append(path.text)
        case .aggregate(let elements) where elements.count > Self.elementsMaximum: return false
        case .constant(let value):
            return isLiteral ? append(literal: value) : append(PlanParameter(expression, Operand(value)))
        case .aggregate:
            if !isLiteral, let value = expression.form.constantValue {
                return append(PlanParameter(expression, Operand(value)))
            }
            return literally { $0.append(partsOf: expression.form) }
        case .variable, .keyPath, .function, .subquery, .conditional:
            return literally { $0.append(partsOf: expression.form) }
        case .anyKey, .set, .block, .fetch: return false
        }
        return true
    }

    /// An expression of several parts, the constants in which are no sides of the request's own comparisons.
    private mutating func append(partsOf form: ExpressionForm) -> Bool {
        switch form {
        case .variable(let name):
            append(.variable)
            append(name)
            return true
        case .keyPath(let operand?, let path):
            // A path behind a constant is followed while the request is planned.
            if case .constant = operand.form { return false }
            append(.operand)
            append(path.text)
            return append(operand)
        case .function(nil, let name, let arguments):
            guard PredicateFunction.isSteady(name) else { return false }
            append(.function)
            append(name)
            return append(arguments)
        case .aggregate(let elements):
            append(.elements)
            return append(elements)
        case .subquery(let collection, let variable, let predicate):
            append(.subquery)
            append(variable)
            return append(collection) && append(predicate)
        case .conditional(let predicate, let first, let second):
            append(.conditional)
            return append(predicate) && append(first) && append(second)
        default: return false
        }
    }

    private mutating func append(_ expressions: [NSExpression]) -> Bool {
        append(UInt64(expressions.count))
        for expression in expressions where !append(expression) { return false }
        return true
    }

    /// What is fetched or grouped by, of which a plan takes names and expressions.
    private mutating func append(_ properties: [Any]?, _ tag: Tag) -> Bool {
        guard let properties else { return true }
        append(tag)
        append(UInt64(properties.count))
        for property in properties {
            if type(of: property) == String.self, let name = property as? String {
                append(.path)
                append(name)
            } else if let description = property as? NSExpressionDescription {
                guard let expression = description.expression else { return false }
                append(.computed)
                append(description.name)
                append(UInt64(description.expressionResultType.rawValue))
                guard literally({ $0.append(expression) }) else { return false }
            } else if let description = property as? NSPropertyDescription {
                append(.path)
                append(description.name)
            } else {
                return false
            }
        }
        return true
    }

    private mutating func literally(_ body: (inout RequestShape) -> Bool) -> Bool {
        let outer = isLiteral
        isLiteral = true
        defer { isLiteral = outer }
        return body(&self)
    }

    // MARK: Constants

    /// A constant as it is, with its type: what is computed of it may be of that. False for one that may be changed, or
    /// is compared in ways of its own.
    private mutating func append(literal value: Any?) -> Bool {
        append(.literal)
        hasLiterals = true
        guard let value else { return append(typeOf: .null) }
        let type = type(of: value)
        if type is AnyClass { return false }
        append(UInt64(UInt(bitPattern: ObjectIdentifier(type))))
        let operand = Operand(value)
        guard append(typeOf: operand) else { return false }
        switch operand {
        case .integer(let value): append(UInt64(bitPattern: value))
        case .double(let value), .date(let value): append(value.bitPattern)
        case .string(let value): append(value)
        case .decimal(let value): withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
        case .data(let value):
            append(UInt64(value.count))
            bytes.append(contentsOf: value)
        case .null, .url, .list, .dictionary, .object: return false
        }
        return true
    }

    private mutating func append(_ parameter: PlanParameter) -> Bool {
        guard case .list(let list) = parameter.operand else {
            append(.constant)
            guard append(typeOf: parameter.operand) else { return false }
            parameters.append(parameter)
            return true
        }
        guard list.elements.count <= Self.elementsMaximum else { return false }
        append(.list)
        bytes.append(Self.bits(list.isUnordered, list.isOrderedSet, false))
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
