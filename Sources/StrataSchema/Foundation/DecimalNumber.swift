import Foundation

/// A decimal that can be a member of a set and a key of a dictionary.
///
/// The hash of Foundation's own calls itself on Linux until the stack overflows. What Strata hands out is therefore of
/// this class, which nobody else has to know.
package final class DecimalNumber: NSDecimalNumber, @unchecked Sendable {
    // Unchecked, as the class that it inherits from is: it never changes.

    /// As of every number that is equal.
    package override var hash: Int {
        let value = decimalValue
        return Int64("\(value)").map { NSNumber(value: $0).hash } ?? NSNumber(value: doubleValue).hash
    }

    package override init(decimal: Decimal) { super.init(decimal: decimal) }

    // What Foundation asks every subclass for.

    package required init?(coder: NSCoder) { super.init(coder: coder) }

    package required init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>) {
        super.init(decimal: NSNumber(bytes: buffer, objCType: type).decimalValue)
    }

    package required init(floatLiteral value: Double) { super.init(decimal: Decimal(value)) }

    package required init(integerLiteral value: Int) { super.init(decimal: Decimal(value)) }

    package required init(booleanLiteral value: Bool) { super.init(decimal: value ? 1 : 0) }
}
