import Foundation

/// What errors of validation say.
struct ValidationTexts {
    /// For a user, translated as the model says: it may name a number, a date, a length or a count that is wrong, but
    /// no text and no data.
    let description: String
    /// For a log: the entity, the property and what is asked of it, in the model's own words.
    let reason: String

    /// - Parameter message: the model's own, in place of both.
    init(
        _ code: CocoaError.Code, _ entity: NSEntityDescription, _ key: String, value: Any?, predicate: NSPredicate?,
        bound: Int?, message: String?
    ) {
        let names = LocalizedNames(entity)
        let name = "\(entity.name ?? "").\(key)"
        // A model that is written in code may have empty ones, to have one for each predicate.
        if let message, !message.isEmpty {
            (description, reason) = (names.message(message), "\(name): \(message)")
            return
        }
        let limit = Self.limit(code, predicate, bound)
        let found = Self.found(code, value)
        let opening = Self.opening(code, name)
        reason = limit.isEmpty ? "\(opening)." : "\(opening): \(limit)."
        let shown = Self.opening(code, "\(names.entity).\(names.property(key))")
        let parts = [found, limit].filter { !$0.isEmpty }
        description = parts.isEmpty ? "\(shown)." : "\(shown): \(parts.joined(separator: ", "))."
    }

    private static func opening(_ code: CocoaError.Code, _ name: String) -> String {
        switch code {
        case .validationMissingMandatoryProperty: "\(name) is a required value"
        case .validationRelationshipLacksMinimumCount: "Too few items in \(name)"
        case .validationRelationshipExceedsMaximumCount: "Too many items in \(name)"
        case .validationRelationshipDeniedDelete: "Items cannot be deleted from \(name)"
        case .validationNumberTooLarge: "\(name) is too large"
        case .validationNumberTooSmall: "\(name) is too small"
        case .validationDateTooLate: "\(name) is too late"
        case .validationDateTooSoon: "\(name) is too soon"
        case .validationInvalidDate: "\(name) is not a valid date"
        case .validationStringTooLong: "\(name) is too long"
        case .validationStringTooShort: "\(name) is too short"
        default: "\(name) is not valid"
        }
    }

    /// What is asked, as the model says it.
    private static func limit(_ code: CocoaError.Code, _ predicate: NSPredicate?, _ bound: Int?) -> String {
        if let bound {
            return code == .validationRelationshipLacksMinimumCount || code == .validationNumberTooSmall
                ? "at least \(bound)" : "at most \(bound)"
        }
        if code == .validationRelationshipDeniedDelete { return "the delete rule denies it while there are any" }
        guard let predicate else { return "" }
        guard let constant = (predicate as? NSComparisonPredicate)?.rightExpression, isLimit(code),
            case .constant(let value) = constant.form
        else { return "it must satisfy \(predicate.formatString)" }
        switch code {
        case .validationNumberTooSmall, .validationDateTooSoon: return "the minimum is \(text(value))"
        case .validationNumberTooLarge, .validationDateTooLate: return "the maximum is \(text(value))"
        case .validationStringTooShort: return "the minimum is \(text(value)) characters"
        case .validationStringTooLong: return "the maximum is \(text(value)) characters"
        default: return "it must match the pattern \(text(value))"
        }
    }

    private static func isLimit(_ code: CocoaError.Code) -> Bool {
        switch code {
        case .validationNumberTooSmall, .validationDateTooSoon, .validationNumberTooLarge, .validationDateTooLate,
            .validationStringTooShort, .validationStringTooLong, .validationStringPatternMatching:
            true
        default: false
        }
    }

    /// The number, date, length or count that is wrong; empty for what is not told.
    private static func found(_ code: CocoaError.Code, _ value: Any?) -> String {
        switch code {
        case .validationStringTooLong, .validationStringTooShort:
            guard case .string(let text) = Operand(value) else { return "" }
            // As the predicate counts them.
            return "it has \(text.utf16.count)"
        case .validationNumberTooLarge, .validationNumberTooSmall, .validationDateTooLate, .validationDateTooSoon:
            return "it is \(text(value))"
        case .validationRelationshipLacksMinimumCount, .validationRelationshipExceedsMaximumCount:
            return "it has \(value.flatMap { AnyElements($0) }?.elements.count ?? 0)"
        default: return ""
        }
    }

    private static func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
}
