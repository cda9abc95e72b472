import Foundation

/// Finds out whether the key paths of a request lead anywhere before a row is read.
package struct KeyPathChecker {
    private let shape: EntityShape
    /// What the variables of the subqueries around stand for; nil where that is not known.
    private var variables: [String: EntityShape?] = [:]

    private let allowsVariables: Bool
    /// What there is besides the entity's properties: the names of fetched expressions.
    private let names: Set<String>

    /// - Parameter allowsVariables: whether there may be variables that no subquery around names.
    package init(_ shape: EntityShape, allowsVariables: Bool = false, names: Set<String> = []) {
        self.shape = shape
        self.allowsVariables = allowsVariables
        self.names = names
    }

    package func check(_ predicate: NSPredicate) throws {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            try check(comparison.leftExpression)
            try check(comparison.rightExpression)
        case let compound as NSCompoundPredicate:
            for part in compound.subpredicates { try check(part) }
        default: return
        }
    }

    package func check(_ expression: NSExpression) throws {
        switch expression.form {
        case .constant, .evaluatedObject, .anyKey, .block: return
        case .variable(let name):
            guard allowsVariables || variables.keys.contains(name) else {
                throw FetchProblem.error("The variable $\(name) of the predicate has no value.")
            }
        case .keyPath(nil, let path):
            if !names.contains(path.text) { try check(path.names[...], from: shape, whole: path.text) }
        case .keyPath(let operand?, let path):
            try check(operand)
            if case .variable(let name) = operand.form, case let start?? = variables[name] {
                try check(path.names[...], from: start, whole: path.text)
            }
        case _ where expression.form.isTooDeep:
            throw FetchProblem.error(
                "The predicate nests deeper than \(PredicateFormatError.maximumDepthOfObjects) levels.")
        case .function(let target, let name, let arguments):
            if let target {
                try check(target)
                try checkMethod(name, of: target, arguments.isEmpty, expression)
            } else if !PredicateFunction.isKnown(name) {
                throw FetchProblem.error("Unsupported function expression \(expression): there is no function \(name)")
            }
            if name == "castObject:toType:", arguments.count == 2,
                case .constant(let type as String) = arguments[1].form, !PredicateCast.isKnown(type)
            {
                throw FetchProblem.error("Unsupported function expression \(expression): there is no type \(type)")
            }
            for argument in arguments { try check(argument) }
        case .aggregate(let elements): for element in elements { try check(element) }
        case .set(_, let left, let right), .fetch(let left, let right, _):
            try check(left)
            try check(right)
        case .subquery(let collection, let variable, let predicate):
            try check(collection)
            try checkCollection(collection)
            var inner = self
            inner.variables.updateValue(target(of: collection), forKey: variable)
            try inner.check(predicate)
        case .conditional(let predicate, let first, let second):
            try check(predicate)
            try check(first)
            try check(second)
        }
    }

    /// Objects, and what a transformer makes, may have methods of their own; other attributes have those that are
    /// known.
    private func checkMethod(
        _ name: String, of target: NSExpression, _ isProperty: Bool, _ expression: NSExpression
    ) throws {
        guard case .keyPath(nil, let path) = target.form, let last = path.names.last,
            let owner = self.target(of: path.names.dropLast(), from: shape),
            case .slot(let slot)? = owner.property(last), let sample = AttributeSample.value(owner.slots[slot].kind)
        else { return }
        let isThere =
            isProperty && !name.hasSuffix(":")
            ? KeyValueAccess.value(of: sample, forKeyPath: name) != nil : PredicateMethod.isKnown(name)
        guard isThere else {
            throw FetchProblem.error(
                "Unsupported function expression \(expression): \(owner.name).\(last) has no method \(name)")
        }
    }

    /// The members of members are a collection of collections: a SUBQUERY of that looks at no objects.
    private func checkCollection(_ expression: NSExpression) throws {
        guard case .keyPath(let operand, let path) = expression.form else { return }
        var start: EntityShape? = shape
        if let operand {
            guard case .variable(let name) = operand.form, case let known?? = variables[name] else { return }
            start = known
        }
        var toMany = 0
        for name in path.names {
            guard let relationship = start?.relationship(name) else { break }
            if relationship.isToMany { toMany += 1 }
            start = relationship.destination
        }
        if toMany > 1 { throw Self.manyOfMany(path.text, "SUBQUERY") }
    }

    private static func manyOfMany(_ path: String, _ what: String) -> any Error {
        FetchProblem.error(
            "keypath \(path) has multiple to-many keys, behind which there is no \(what): write a SUBQUERY of the"
                + " members' own members.")
    }

    /// The entity of the objects that a collection expression has, if that can be told.
    private func target(of expression: NSExpression) -> EntityShape? {
        switch expression.form {
        case .keyPath(nil, let path): return target(of: path.names[...], from: shape)
        case .keyPath(let operand?, let path):
            guard case .variable(let name) = operand.form, case let start?? = variables[name] else { return nil }
            return target(of: path.names[...], from: start)
        case .subquery(let collection, _, _): return target(of: collection)
        default: return nil
        }
    }

    private func target(of path: ArraySlice<String>, from start: EntityShape) -> EntityShape? {
        var current: EntityShape? = start
        for name in path { current = current?.relationship(name)?.destination }
        return current
    }

    /// - Parameter whole: for the message.
    package func check(_ path: ArraySlice<String>, from start: EntityShape, whole: String) throws {
        guard path.count <= PredicateFormatError.maximumDepthOfObjects else {
            throw FetchProblem.error(
                "A keypath of \(start.name) has \(path.count) steps; the most are"
                    + " \(PredicateFormatError.maximumDepthOfObjects).")
        }
        var current = start
        var rest = path
        var toMany = 0
        while let name = rest.popFirst() {
            // Operators apply to the collection that the path has come to.
            if name.utf8.first == UInt8(ascii: "@") {
                if toMany > 1 { throw Self.manyOfMany(whole, name) }
                toMany = 0
                continue
            }
            switch current.property(name) {
            case .slot(let slot)?:
                let info = current.slots[slot]
                guard info.isPersistent else {
                    throw FetchProblem.error(
                        "\(current.name).\(name) is transient: keypath \(whole) cannot be fetched by.")
                }
                guard info.relationshipIndex >= 0 else {
                    return try checkProperty(rest, of: info, current, whole: whole, start)
                }
                current = current.relationships[info.relationshipIndex].destination
            case .toMany(let index)?:
                current = current.relationships[index].destination
                toMany += 1
            case .composite(let composite)?: return try check(rest, in: composite, current, whole: whole)
            case .fetched?:
                throw FetchProblem.error("\(current.name).\(name) is a fetched property and cannot be fetched by.")
            case nil:
                if name == "self" || name == "SELF" { continue }
                if name == "objectID" || name == "entity" { return }
                throw FetchProblem.unknownKey(whole, start, missing: name, owner: current)
            }
        }
    }

    /// - Parameter path: what follows an attribute: a property of its values, such as `length`.
    private func checkProperty(
        _ path: ArraySlice<String>, of attribute: SlotInfo, _ owner: EntityShape, whole: String, _ start: EntityShape
    ) throws {
        guard let first = path.first, first.utf8.first != UInt8(ascii: "@"),
            let sample = AttributeSample.value(attribute.kind),
            KeyValueAccess.value(of: sample, forKeyPath: path.joined(separator: ".")) == nil
        else { return }
        throw FetchProblem.error(
            "keypath \(whole) not found in entity \(start.name): values of \(owner.name).\(attribute.name) have no"
                + " property named \(path.joined(separator: "."))")
    }

    private func check(
        _ path: ArraySlice<String>, in composite: CompositeShape, _ owner: EntityShape, whole: String
    ) throws {
        guard let name = path.first else { return }
        switch owner.property(composite.name + "." + name) {
        case .composite(let inner)?: try check(path.dropFirst(), in: inner, owner, whole: whole)
        case nil:
            let names = owner.properties.keys.filter { $0.hasPrefix(composite.name + ".") }
            throw FetchProblem.error(
                "keypath \(whole) not found in entity \(owner.name)"
                    + Suggestion.text(for: composite.name + "." + name, among: names))
        default: return
        }
    }

    /// Checks that every step is a relationship.
    package func checkRelationships(_ path: KeyPathComponents) throws {
        guard !path.names.isEmpty, target(of: path.names[...], from: shape) != nil else {
            let near = path.names.first.map { Suggestion.text(for: $0, among: shape.relationships.map(\.name)) } ?? ""
            throw FetchProblem.error(
                "\(path.text) of \(shape.name) is no path of relationships and cannot be prefetched\(near).")
        }
    }

    /// Whether a path goes through a to-many relationship.
    package func isToMany(_ path: KeyPathComponents) -> Bool {
        var current: EntityShape? = shape
        for name in path.names {
            guard let relationship = current?.relationship(name) else { return false }
            if relationship.isToMany { return true }
            current = relationship.destination
        }
        return false
    }
}
