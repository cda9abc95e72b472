import StrataLog

/// A comparison of a column's values with those of another column of the same rows.
struct ColumnPair: Sendable {
    /// How the values of two kinds are compared, with the results of `Operand.compare(_:)`.
    enum Domain: Sendable {
        case integers
        /// Floats, doubles, dates, and integers that are doubles without being rounded.
        case reals
        /// Integers that may be rounded as doubles, and floats, doubles or dates.
        case numbers
        case texts
        case uuids
        /// A decimal, and a decimal or any number.
        case decimals

        /// Nil for kinds that only the interpreter compares.
        init?(_ left: SlotKind, _ right: SlotKind) {
            switch (left, right) {
            case (.string, .string): self = .texts
            case (.uuid, .uuid): self = .uuids
            case (.decimal, _) where right.isDecimalComputable && right != .date,
                (_, .decimal) where left.isDecimalComputable && left != .date:
                self = .decimals
            case _ where left.isInteger && right.isInteger: self = .integers
            case _ where left.isExactAsDouble && right.isExactAsDouble: self = .reals
            case _ where left.isComputable && right.isComputable: self = .numbers
            default: return nil
            }
        }
    }

    let relation: Relation
    let slot: Int
    let kind: SlotKind
    let domain: Domain

    /// Nil for kinds that only the interpreter compares.
    init?(_ left: SlotKind, _ relation: Relation, _ slot: Int, _ kind: SlotKind) {
        guard let domain = Domain(left, kind) else { return nil }
        self.relation = relation
        self.slot = slot
        self.kind = kind
        self.domain = domain
    }

    /// What comparing a row costs, roughly in nanoseconds.
    var cost: Int { domain == .texts || domain == .decimals ? 20 : 3 }

    /// Whether a row satisfies it, of anything but texts.
    ///
    /// - Precondition: neither value is null.
    @inline(__always)
    func holds(_ left: ColumnView, _ leftKind: SlotKind, _ right: ColumnView, _ row: Int) -> Bool {
        switch domain {
        case .integers: relation.holds(left.integer(row, leftKind), right.integer(row, kind))
        case .reals: relation.holds(left.real(row, leftKind), right.real(row, kind))
        case .numbers: relation.holds(left, leftKind, right, kind, row)
        case .uuids: relation.holds(Self.order(left.uuid(row), right.uuid(row)))
        case .decimals:
            if let left = ColumnDecimal(left, row, leftKind), let right = ColumnDecimal(right, row, kind) {
                relation.holds(ColumnDecimal.order(left, right))
            } else {
                relation == .notEqual
            }
        case .texts: preconditionFailure("texts are compared by their bytes")
        }
    }

    /// The order of what is written, whose first digits come first.
    private static func order(_ left: (UInt64, UInt64), _ right: (UInt64, UInt64)) -> Int {
        let (left, right) = ((left.0.bigEndian, left.1.bigEndian), (right.0.bigEndian, right.1.bigEndian))
        return left < right ? -1 : left == right ? 0 : 1
    }
}

extension Relation {
    /// Whether it holds between an integer and a floating-point number, neither of which is rounded.
    fileprivate func holds(
        _ left: ColumnView, _ leftKind: SlotKind, _ right: ColumnView, _ rightKind: SlotKind, _ row: Int
    ) -> Bool {
        if leftKind.isInteger {
            guard let order = Self.order(left.integer(row, leftKind), right.real(row, rightKind)) else {
                return self == .notEqual
            }
            return holds(order)
        }
        guard let order = Self.order(right.integer(row, rightKind), left.real(row, leftKind)) else {
            return self == .notEqual
        }
        return holds(-order)
    }

    /// -1, 0 or 1; nil for what is no number.
    private static func order(_ integer: Int64, _ real: Double) -> Int? {
        if real.isNaN { return nil }
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = real - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }
}

extension SlotKind {
    /// Truth values are integers, too.
    package var isInteger: Bool {
        switch self {
        case .bool, .int16, .int32, .int64: true
        default: false
        }
    }

    /// Whether every value is a double without being rounded.
    fileprivate var isExactAsDouble: Bool {
        switch self {
        case .bool, .int16, .int32, .float, .double, .date: true
        default: false
        }
    }
}

extension ColumnView {
    /// A truth value or an integer of any width.
    @inline(__always)
    package func integer(_ row: Int, _ kind: SlotKind) -> Int64 {
        switch kind {
        case .bool: bool(row) ? 1 : 0
        case .int16: Int64(int16(row))
        case .int32: Int64(int32(row))
        default: int64(row)
        }
    }

    /// A number or a date, as seconds since the reference date.
    @inline(__always)
    package func real(_ row: Int, _ kind: SlotKind) -> Double {
        switch kind {
        case .float: Double(float(row))
        case .double, .date: double(row)
        default: Double(integer(row, kind))
        }
    }
}
