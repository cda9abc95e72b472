import Foundation

/// Predicates and expressions as the texts that encoded models keep.
package enum ModelFormats {
    /// - Throws: ``ModelError`` with `notEncodable` for a predicate whose text does not say what it does: one made of a
    ///   block, or one with a constant that is no value.
    package static func format(of predicate: NSPredicate) throws -> String {
        let format = predicate.formatString
        try check(format, predicate.canonical) { try NSPredicate.parse(format).canonical }
        return format
    }

    /// - Throws: ``ModelError`` with `notEncodable`, as for predicates.
    package static func format(of expression: NSExpression) throws -> String {
        let format = expression.description
        try check(format, expression) { try NSExpression.parse(format) }
        return format
    }

    /// - Throws: ``ModelError`` with `damaged`.
    static func predicate(_ format: String) throws -> NSPredicate {
        do {
            return try NSPredicate.parse(format)
        } catch {
            throw ModelError(.damaged, "\(error)")
        }
    }

    /// - Throws: ``ModelError`` with `damaged`.
    package static func expression(_ format: String) throws -> NSExpression {
        do {
            return try NSExpression.parse(format)
        } catch {
            throw ModelError(.damaged, "\(error)")
        }
    }

    /// Better to refuse a model than to write one that reads differently.
    private static func check<Value: Equatable>(_ format: String, _ original: Value, parse: () throws -> Value) throws {
        let read: Value
        do {
            read = try parse()
        } catch {
            throw ModelError(.notEncodable, "'\(format)' can't be kept in a file: \(error)")
        }
        guard read == original else {
            throw ModelError(.notEncodable, "'\(format)' can't be kept in a file: it would mean something else")
        }
    }
}
