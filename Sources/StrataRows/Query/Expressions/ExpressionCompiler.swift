import Foundation

/// Makes a ``RowExpression`` of an expression whose constants are folded.
///
/// Nothing is compiled whose values could differ from the interpreter's.
package struct ExpressionCompiler {
    package let shape: EntityShape

    package init(shape: EntityShape) {
        self.shape = shape
    }
    /// What nests deeper is interpreted: several functions go down a compiled expression, in frames that are larger.
    package static let maximumDepth = 100

    /// Nil for what the interpreter has to compute.
    package func compile(_ expression: NSExpression) -> RowExpression? {
        if expression.depth > Self.maximumDepth { return nil }
        switch expression.form {
        case .constant(let value): return constant(Operand(value))
        case .keyPath(nil, let path): return compile(path.names[...])
        case .function(nil, "noindex:", let arguments) where arguments.count == 1: return compile(arguments[0])
        case .function(nil, "count:", let arguments) where arguments.count == 1:
            guard case .keyPath(nil, let path) = arguments[0].form else { return nil }
            return members(path.names[...] + ["@count"])
        case .function(nil, let name, let arguments):
            switch arguments.count {
            case 1:
                guard let function = ColumnFunction(rawValue: name), let argument = compile(arguments[0]),
                    function.takes(argument.kind)
                else { return nil }
                return .function(function, argument)
            case 2:
                guard let operation = ColumnArithmetic(rawValue: name), let left = compile(arguments[0]),
                    let right = compile(arguments[1])
                else { return nil }
                return Self.arithmetic(operation, left, right)
            default: return nil
            }
        default: return nil
        }
    }

    /// What lies at a path's end: an attribute, a to-one relationship, or what is made of the members of a to-many one.
    package func compile(_ path: ArraySlice<String>) -> RowExpression? {
        if path.count > Self.maximumDepth { return nil }
        if let members = members(path) { return members }
        guard let (slot, rest) = shape.slot(on: path) else { return nil }
        let kind = shape.slots[slot].kind
        if rest.isEmpty { return .slot(slot, kind) }
        guard kind == .toOne else { return nil }
        let relationship = shape.relationships[shape.slots[slot].relationshipIndex]
        guard let end = ExpressionCompiler(shape: relationship.destination).compile(rest) else { return nil }
        return .path(RowPath(slot: slot, relationship, end))
    }

    /// The key of the object that a path leads to, for a reference in its place: null where that object is gone.
    package func key(ofReference expression: RowExpression) -> RowExpression? {
        switch expression {
        case .slot(let slot, .toOne):
            return .path(RowPath(slot: slot, shape.relationships[shape.slots[slot].relationshipIndex], .key))
        case .path(let path):
            let destination = ExpressionCompiler(shape: path.relationship.destination)
            guard let rest = destination.key(ofReference: path.rest) else { return nil }
            return .path(RowPath(slot: path.slot, path.relationship, rest))
        default: return nil
        }
    }

    /// `tags.@count`, `orders.@sum.amount`; nil for other paths.
    private func members(_ path: ArraySlice<String>) -> RowExpression? {
        guard let name = path.first, case .toMany(let index)? = shape.property(name) else { return nil }
        let relationship = shape.relationships[index]
        guard relationship.hasMembersOfItsOwn, let function = RowMembers.Function(path.dropFirst(), relationship) else {
            return nil
        }
        return .members(RowMembers(shape, relationship, function))
    }

    private func constant(_ value: Operand) -> RowExpression? {
        switch value {
        case .integer(let value): .integer(value)
        case .double(let value), .date(let value): .real(value)
        default: nil
        }
    }

    private static func arithmetic(
        _ operation: ColumnArithmetic, _ left: RowExpression, _ right: RowExpression
    ) -> RowExpression? {
        if left.kind == .decimal || right.kind == .decimal {
            guard operation.takesDecimals, left.kind.isDecimalComputable, right.kind.isDecimalComputable else {
                return nil
            }
            return .arithmetic(operation, left, right)
        }
        guard left.kind.isComputable, right.kind.isComputable else { return nil }
        if operation.isBitwise, !left.kind.isInteger || !right.kind.isInteger { return nil }
        return .arithmetic(operation, left, right)
    }
}

extension EntityShape {
    /// The persistent slot that a path begins with, be it that of an element of a composite, and what of the path comes
    /// behind it; nil when it begins with something else.
    package func slot(on path: ArraySlice<String>) -> (slot: Int, rest: ArraySlice<String>)? {
        guard var name = path.first else { return nil }
        var rest = path.dropFirst()
        while true {
            switch property(name) {
            case .slot(let slot)?: return slots[slot].isPersistent ? (slot, rest) : nil
            case .composite?:
                guard let next = rest.first else { return nil }
                name += "." + next
                rest = rest.dropFirst()
            default: return nil
            }
        }
    }
}
