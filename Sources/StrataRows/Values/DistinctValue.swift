import Foundation

/// Several values that count as one are shown as one.
package enum DistinctValue {
    /// Zeros of both signs are one value, and which of them comes first is no matter: the positive one stands for both.
    package static func shown(_ value: Any?) -> Any? {
        // Casts in vain take long, and most values are texts.
        guard let value, type(of: value) != String.self else { return value }
        return switch value {
        case let number as NSNumber where isNegativeZero(number.doubleValue):
            String(cString: number.objCType) == "f" ? NSNumber(value: 0 as Float) : NSNumber(value: 0 as Double)
        case let number as Double where isNegativeZero(number): 0 as Double
        case let number as Float where isNegativeZero(Double(number)): 0 as Float
        case let date as Date where isNegativeZero(date.timeIntervalSinceReferenceDate):
            Date(timeIntervalSinceReferenceDate: 0)
        default: value
        }
    }

    private static func isNegativeZero(_ value: Double) -> Bool { value == 0 && value.sign == .minus }
}
