import Foundation

extension SlotKind {
    /// Whether an integer attribute has room for a number; its fraction does not count.
    package func fits(_ number: NSNumber) -> Bool {
        let value = number.doubleValue
        switch self {
        case .int16: return value > Double(Int16.min) - 1 && value < Double(Int16.max) + 1
        case .int32: return value > Double(Int32.min) - 1 && value < Double(Int32.max) + 1
        case .int64:
            // Beyond this a Double does not tell neighbours apart.
            guard value.magnitude > 0x1p62 else { return !value.isNaN }
            return NSNumber(value: number.int64Value).compare(number) == .orderedSame
        default: return true
        }
    }

    /// The same for Swift's integers, which need no NSNumber.
    package func fits(_ number: Int64) -> Bool {
        switch self {
        case .int16: Int64(Int16(truncatingIfNeeded: number)) == number
        case .int32: Int64(Int32(truncatingIfNeeded: number)) == number
        default: true
        }
    }
}
