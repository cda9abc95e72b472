import Foundation

/// A value of an attribute, as the oracle keeps it.
///
/// Two values are the same only if they are so bit by bit: not-a-numbers are, both zeros are not, nor are texts that
/// Unicode calls equivalent.
enum Value: Equatable {
    case null
    case int(Int64)
    /// A double, a float, or a date in seconds since the reference date.
    case real(Double)
    case flag(Bool)
    /// A text, or a decimal number, a UUID or an address as one.
    case text(String)
    case bytes([UInt8])
    case list([String])

    static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.int(let a), .int(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
        case (.flag(let a), .flag(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.list(let a), .list(let b)): a == b
        default: false
        }
    }

    /// Whether it comes first in an order, as null does.
    var isNothing: Bool {
        switch self {
        case .null: true
        case .real(let number): number.isNaN
        default: false
        }
    }

    /// How two values that are neither null nor not-a-numbers lie to each other: -1, 0 or 1.
    func order(_ other: Value, _ kind: Kind) -> Int {
        switch (self, other) {
        case (.int(let a), .int(let b)): return Self.order(a, b)
        case (.real(let a), .real(let b)): return Self.order(a, b)
        case (.int(let a), .real(let b)): return Self.order(Double(a), b)
        case (.flag(let a), .flag(let b)): return Self.order(a ? 1 : 0, b ? 1 : 0)
        case (.text(let a), .text(let b)) where kind == .decimal:
            return Self.order(Decimal(string: a) ?? 0, Decimal(string: b) ?? 0)
        case (.text(let a), .text(let b)): return Self.order(Array(a.utf8), Array(b.utf8))
        case (.bytes(let a), .bytes(let b)): return Self.order(a, b)
        default: return 0
        }
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

    private static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }
}
