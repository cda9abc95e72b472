import Foundation

/// Which constants an operator can compare a property with.
package struct ComparisonTypes {
    package typealias Operator = NSComparisonPredicate.Operator

    /// What a key path leads to.
    package enum Target {
        case attribute(EntityShape, SlotInfo, isMany: Bool)
        case relationship(EntityShape, RelationshipShape, isMany: Bool)
        case object(EntityShape)
        /// How many members a collection has.
        case count(EntityShape)

        /// Whether the path has a collection of values, since a relationship on it is to-many.
        package var isMany: Bool {
            switch self {
            case .attribute(_, _, let isMany), .relationship(_, _, let isMany): isMany
            case .object, .count: false
            }
        }

        package var name: String {
            switch self {
            case .attribute(let owner, let info, _): "\(owner.name).\(info.name)"
            case .relationship(let owner, let relationship, _): "\(owner.name).\(relationship.name)"
            case .object(let shape): shape.name
            case .count: "@count"
            }
        }

        /// Nil for objects.
        package var kind: SlotKind? {
            switch self {
            case .attribute(_, let info, _): info.kind
            case .count: .int64
            case .relationship, .object: nil
            }
        }
    }

    private let type: Operator
    private let options: NSComparisonPredicate.Options

    package init(_ type: Operator, _ options: NSComparisonPredicate.Options) {
        self.type = type
        self.options = options
    }

    // MARK: Operators

    /// Checks what an operator asks of its right side, whatever is on its left.
    package func checkOperands(_ right: NSExpression) throws {
        if right is FoldedConstant, type != .matches { return }
        switch (type, right.form) {
        case (.matches, .constant(let value)):
            guard case .string(let pattern) = Operand(value),
                RegularExpressionCache.expression(pattern, options) == nil
            else { return }
            throw FetchProblem.comparison("The pattern of a MATCHES is no regular expression; check its brackets.")
        case (.between, .constant(let value)):
            guard case .list(let bounds) = Operand(value), bounds.elements.count == 2, !bounds.isUnordered else {
                throw FetchProblem.comparison("BETWEEN takes an array of two bounds, not \(Self.name(Operand(value))).")
            }
        case (.between, .aggregate(let bounds)) where bounds.count != 2:
            throw FetchProblem.comparison("BETWEEN takes two bounds, not \(bounds.count).")
        case (.in, .constant(let value)):
            let operand = Operand(value)
            if case .string = operand { return }
            guard operand.members != nil else {
                throw FetchProblem.comparison("IN takes a collection, not \(Self.name(operand)).")
            }
        default: return
        }
    }

    /// Whether the operator asks for the text of a URI: Core Data's stores keep URIs as texts.
    func readsText(of target: Target) -> Bool {
        guard target.kind == .uri, !target.isMany else { return false }
        switch type {
        case .like, .beginsWith, .endsWith, .matches, .contains: return true
        default: return false
        }
    }

    /// Checks that the operator fits the property on its left.
    package func check(_ target: Target) throws {
        let isText: Bool
        switch target.kind {
        case .transformable?: return
        case .string?: isText = true
        default: isText = false
        }
        switch type {
        case .like, .beginsWith, .endsWith, .matches:
            if !isText {
                throw FetchProblem.comparison("\(Self.names[type] ?? "") takes a String, and \(target.name) is none.")
            }
        case .contains:
            if !isText, !target.isMany {
                throw FetchProblem.comparison("CONTAINS takes a String or a collection, and \(target.name) is neither.")
            }
        default: return
        }
    }

    private static let names: [Operator: String] = [
        .like: "LIKE", .beginsWith: "BEGINSWITH", .endsWith: "ENDSWITH", .matches: "MATCHES",
    ]

    // MARK: Constants

    /// The right side in the type of what is on the left; nil if there is nothing to change.
    package func converted(_ right: NSExpression, for target: Target) throws -> NSExpression? {
        switch type {
        case .customSelector: return nil
        case .in:
            // A part of a string.
            if case .constant(let value) = right.form, case .string = Operand(value) {
                if right is FoldedConstant { return nil }
                guard target.kind == .string || target.kind == .transformable else {
                    throw FetchProblem.comparison("\(target.name) IN takes a collection, not a String.")
                }
                return nil
            }
            return try elements(right, target)
        case .between: return try elements(right, target)
        default: return try single(right, target)
        }
    }

    /// The left side in the type of what is on the right; nil if there is nothing to change.
    package func converted(_ left: NSExpression, forRight target: Target) throws -> NSExpression? {
        switch type {
        case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return try single(left, target)
        case .in:
            if target.kind == .transformable { return nil }
            if target.isMany || target.kind == .string { return try single(left, target) }
            throw FetchProblem.comparison("IN takes a collection, and \(target.name) is none.")
        default: return nil
        }
    }

    private func elements(_ expression: NSExpression, _ target: Target) throws -> NSExpression? {
        switch expression.form {
        case .constant(let value):
            guard let members = Operand(value).members else { return nil }
            let changed = try members.map { try Self.converted($0, target) }
            if changed.allSatisfy({ $0 == nil }) { return nil }
            let all: [Any] = zip(members, changed).map { $1 ?? $0 ?? NSNull() }
            let isUnordered = value.flatMap { AnyElements($0) }?.isUnordered == true
            return NSExpression(form: .constant(isUnordered ? AnyElements.set(of: all) : all))
        case .aggregate(let elements):
            let changed = try elements.map { try single($0, target) }
            if changed.allSatisfy({ $0 == nil }) { return nil }
            return NSExpression(form: .aggregate(zip(elements, changed).map { $1 ?? $0 }))
        default: return nil
        }
    }

    private func single(_ expression: NSExpression, _ target: Target) throws -> NSExpression? {
        guard case .constant(let value) = expression.form else { return nil }
        if expression is FoldedConstant {
            return (try? Self.converted(value, target)).flatMap { $0 }.map { FoldedConstant($0) }
        }
        return try Self.converted(value, target).map { NSExpression(form: .constant($0)) }
    }

    /// The value in the type of the target; nil for one that is fine as it is.
    ///
    /// - Throws: for one that has no such type.
    private static func converted(_ value: Any?, _ target: Target) throws -> Any? {
        let operand = Operand(AnyElements.plain(value))
        if case .null = operand { return nil }
        // A collection is compared with a collection.
        if target.isMany, case .list = operand { return nil }
        guard let kind = target.kind else {
            try checkObject(operand, target)
            return nil
        }
        switch (kind, operand) {
        case (.transformable, _): return nil
        case (.bool, .string(let text)), (.int16, .string(let text)), (.int32, .string(let text)),
            (.int64, .string(let text)), (.float, .string(let text)), (.double, .string(let text)),
            (.decimal, .string(let text)):
            if let number = number(text, kind) { return number }
            throw FetchProblem.comparison("\(target.name) is a number, and is compared with a String that is none.")
        case (.bool, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.decimal, _), (.date, _):
            switch operand {
            // A date is a number of seconds.
            case .integer, .double, .decimal, .date: return nil
            default: break
            }
        case (.string, .integer(let number)): return "\(number)"
        case (.string, .decimal(let number)): return number.description
        case (.string, .double(let number)): return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        case (.string, .string), (.uuid, .uuid), (.data, .data), (.uri, .url): return nil
        default: break
        }
        throw FetchProblem.comparison("\(target.name) is a \(name(kind)), and is compared with \(name(operand)).")
    }

    private static func checkObject(_ operand: Operand, _ target: Target) throws {
        guard case .object(let object) = operand else {
            throw FetchProblem.comparison("\(target.name) is an object, and is compared with \(name(operand)).")
        }
        guard case .relationship(_, let relationship, _) = target else { return }
        guard let id = object as? NSManagedObjectID else {
            throw FetchProblem.comparison(
                "\(target.name) is an object, and is compared with a \(Swift.type(of: object)).")
        }
        let destination: EntityShape = relationship.destination
        if id.shape.model !== destination.model || id.shape.isKind(of: destination) || destination.isKind(of: id.shape)
        {
            return
        }
        throw FetchProblem.comparison(
            "\(target.name) leads to \(destination.name), and is compared with an object of \(id.shape.name).")
    }

    // MARK: Numbers

    private static func number(_ text: String, _ kind: SlotKind) -> Any? {
        // No hexadecimal digits, and no names of values that are no numbers.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        if let integer = Int(text) { return integer }
        guard let real = Double(text), real.isFinite else { return nil }
        return kind == .decimal ? Decimal(string: text).map { NSDecimalNumber(decimal: $0) } ?? real : real
    }

    // MARK: Names

    private static func name(_ kind: SlotKind) -> String {
        switch kind {
        case .bool: "Boolean"
        case .int16, .int32, .int64, .float, .double, .decimal: "number"
        case .date: "Date"
        case .uuid: "UUID"
        case .string: "String"
        case .data: "Data"
        case .uri: "URL"
        case .transformable: "transformable value"
        case .toOne: "object"
        }
    }

    private static func name(_ operand: Operand) -> String {
        switch operand {
        case .null: "nil"
        case .integer, .double, .decimal: "a number"
        case .string: "a String"
        case .date: "a Date"
        case .data: "Data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .list(let list): "a collection of \(list.elements.count)"
        case .dictionary: "a dictionary"
        case .object(let object): object is NSManagedObjectID ? "an object" : "a \(Swift.type(of: object))"
        }
    }
}
