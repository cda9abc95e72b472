import Foundation

/// Predicates and expressions as the texts that encoded models keep.
enum ModelFormats {
    /// - Throws: ``ModelError`` with `notEncodable` for a predicate made of a block, whose text cannot be read again.
    static func format(of predicate: NSPredicate) throws -> String {
        let format = predicate.formatString
        _ = try checked(format) { try NSPredicate.parse(format) }
        return format
    }

    /// - Throws: ``ModelError`` with `notEncodable` for an expression made of a block, whose text cannot be read again.
    static func format(of expression: NSExpression) throws -> String {
        let format = expression.description
        _ = try checked(format) { try NSExpression.parse(format) }
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
    static func expression(_ format: String) throws -> NSExpression {
        do {
            return try NSExpression.parse(format)
        } catch {
            throw ModelError(.damaged, "\(error)")
        }
    }

    /// Better to refuse a model than to write one that cannot be read.
    private static func checked<Value>(_ format: String, parse: () throws -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw ModelError(.notEncodable, "'\(format)' can't be kept in a file: \(error)")
        }
    }
}
