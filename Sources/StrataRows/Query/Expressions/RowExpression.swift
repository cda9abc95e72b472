/// What is computed of the columns of a row, and of those of the objects that it refers to. All values of one
/// expression are of one kind, or null.
package indirect enum RowExpression: Equatable {
    case slot(Int, SlotKind)
    /// The row's own key.
    case key
    /// What lies behind a to-one relationship.
    case path(RowPath)
    /// What lies behind a to-many relationship, taken together.
    case members(RowMembers)
    case integer(Int64)
    case real(Double)
    case arithmetic(ColumnArithmetic, RowExpression, RowExpression)
    case function(ColumnFunction, RowExpression)

    package var kind: SlotKind {
        switch self {
        case .slot(_, let kind): kind
        case .path(let path): path.rest.kind
        case .members(let members): members.kind
        case .key, .integer: .int64
        case .real: .double
        // Each side is asked once: an expression may nest deep.
        case .arithmetic(_, let left, let right): Self.kind(left.kind, right.kind)
        case .function(let function, let argument): function.kind(of: argument.kind)
        }
    }

    /// Of arithmetic with such sides.
    private static func kind(_ left: SlotKind, _ right: SlotKind) -> SlotKind {
        if left == .decimal || right == .decimal { return .decimal }
        return left.isInteger && right.isInteger ? .int64 : .double
    }

    /// The slot that it is, if nothing has to be computed.
    var plainSlot: Int? {
        if case .slot(let slot, _) = self { return slot }
        return nil
    }

    /// The slots of the row whose columns are read.
    package var slots: [Int] {
        switch self {
        case .slot(let slot, _): [slot]
        case .path(let path): [path.slot]
        case .key, .members, .integer, .real: []
        case .arithmetic(_, let left, let right): left.slots + right.slots
        case .function(_, let argument): argument.slots
        }
    }

    /// The relationships that are followed from the row itself.
    package var paths: [RowPath] {
        switch self {
        case .slot, .key, .members, .integer, .real: []
        case .path(let path): [path]
        case .arithmetic(_, let left, let right): left.paths + right.paths
        case .function(_, let argument): argument.paths
        }
    }

    /// What is made of the row's own members.
    var members: [RowMembers] {
        switch self {
        case .slot, .key, .path, .integer, .real: []
        case .members(let members): [members]
        case .arithmetic(_, let left, let right): left.members + right.members
        case .function(_, let argument): argument.members
        }
    }

    /// What computing a row costs, roughly in nanoseconds.
    package var cost: Int {
        switch self {
        // A decimal is taken apart before anything is done with it.
        case .slot(_, .decimal): 15
        case .slot, .key, .integer, .real: 1
        case .path(let path): 20 + path.rest.cost
        case .members: 40
        case .arithmetic(_, let left, let right): 3 + left.cost + right.cost
        case .function(let function, let argument): function.cost + argument.cost
        }
    }
}

/// A step along a to-one relationship, and what is computed of the object there. Immutable.
package final class RowPath: Equatable {
    package let slot: Int
    package let relationship: RelationshipShape
    /// Over the rows of the destination.
    package let rest: RowExpression

    package init(slot: Int, _ relationship: RelationshipShape, _ rest: RowExpression) {
        self.slot = slot
        self.relationship = relationship
        self.rest = rest
    }

    package static func == (left: RowPath, right: RowPath) -> Bool {
        left === right
            || left.slot == right.slot && left.relationship === right.relationship && left.rest == right.rest
    }
}

/// Arithmetic of two numbers, with the results of ``Arithmetic``.
package enum ColumnArithmetic: String {
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case remainder = "modulus:by:"
    case and = "bitwiseAnd:with:"
    case or = "bitwiseOr:with:"
    case xor = "bitwiseXor:with:"
    case shiftLeft = "leftshift:by:"
    case shiftRight = "rightshift:by:"

    /// Whether decimals are computed by columns.
    var takesDecimals: Bool {
        switch self {
        case .add, .subtract, .multiply, .divide: true
        case .remainder, .and, .or, .xor, .shiftLeft, .shiftRight: false
        }
    }

    /// Whether it is there for whole numbers only.
    var isBitwise: Bool {
        switch self {
        case .add, .subtract, .multiply, .divide, .remainder: false
        case .and, .or, .xor, .shiftLeft, .shiftRight: true
        }
    }
}

/// Functions of one value, with the results of ``PredicateFunction``.
package enum ColumnFunction: String {
    case absolute = "abs:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case truncate = "trunc:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case complement = "onesComplement:"
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case length = "length:"

    /// The kind of the results; of arguments that it takes.
    func kind(of argument: SlotKind) -> SlotKind {
        switch self {
        case .absolute: argument.isInteger ? .int64 : .double
        case .floor, .ceiling, .truncate, .complement, .length: .int64
        case .squareRoot, .logarithm, .naturalLogarithm, .exponential: .double
        case .uppercase, .lowercase, .canonical: .string
        }
    }

    func takes(_ kind: SlotKind) -> Bool {
        switch self {
        case .absolute, .floor, .ceiling, .truncate, .squareRoot, .logarithm, .naturalLogarithm, .exponential:
            kind.isComputable
        case .complement: kind.isInteger
        case .uppercase, .lowercase, .canonical, .length: kind == .string
        }
    }

    fileprivate var cost: Int {
        switch self {
        case .absolute, .floor, .ceiling, .truncate, .squareRoot, .complement: 3
        case .logarithm, .naturalLogarithm, .exponential: 15
        case .uppercase, .lowercase, .length: 30
        case .canonical: 60
        }
    }
}

extension SlotKind {
    /// Whether values can be taken for decimals: a float by its shortest notation.
    var isDecimalComputable: Bool { self == .decimal || isComputable }

    /// Whether values are integers or floating point to expressions. Dates are: they count seconds.
    var isComputable: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .date: true
        case .uuid, .string, .data, .decimal, .uri, .transformable, .toOne: false
        }
    }
}
