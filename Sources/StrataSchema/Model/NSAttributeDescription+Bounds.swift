import Foundation
import StrataSupport

extension NSAttributeDescription {
    /// Sets the limits that a model's designer gives an attribute, as the validation predicates that stand for them.
    /// Errors have the limit's own code instead of 1550.
    ///
    /// Strata's addition: Core Data makes such predicates only when it compiles a model.
    ///
    /// - Parameters:
    ///   - minimum: the least number or the earliest date; of a string, the least length. Nil for none.
    ///   - maximum: likewise; the value itself is allowed.
    ///   - pattern: a regular expression that a string must match as a whole.
    /// - Precondition: the attribute's type is set; a pattern is only given for a string.
    public final func setBounds(minimum: Any? = nil, maximum: Any? = nil, pattern: String? = nil) {
        let isString = attributeType == .stringAttributeType
        guard pattern == nil || isString else {
            programmerError(
                "\(owningEntity?.name ?? "NSAttributeDescription").\(name)",
                "setBounds(minimum:maximum:pattern:) was given a pattern for an attribute that is no String",
                "Set attributeType to .stringAttributeType first, or leave the pattern out")
        }
        let codes: (small: Int, large: Int)
        switch attributeType {
        case .stringAttributeType: codes = (NSValidationStringTooShortError, NSValidationStringTooLongError)
        case .dateAttributeType: codes = (NSValidationDateTooSoonError, NSValidationDateTooLateError)
        default: codes = (NSValidationNumberTooSmallError, NSValidationNumberTooLargeError)
        }
        let path = isString ? "length" : "SELF"
        var predicates: [NSPredicate] = []
        var warnings: [Any] = []
        func add(_ format: String, _ value: Any?, _ code: Int) {
            guard let value else { return }
            predicates.append(NSPredicate(format: format, argumentArray: [value]))
            warnings.append(NSNumber(value: code))
        }
        add("\(path) >= %@", minimum, codes.small)
        add("\(path) <= %@", maximum, codes.large)
        add("SELF MATCHES %@", pattern, NSValidationStringPatternMatchingError)
        setValidation(predicates: predicates, warnings: warnings)
    }
}
