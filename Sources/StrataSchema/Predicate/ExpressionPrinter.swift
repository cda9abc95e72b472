import Foundation
import StrataModelFile

/// Writes expressions in the notation that the parser reads.
enum ExpressionPrinter {
    /// Binary operators by function name.
    private static let operators: [String: String] = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
        "bitwiseAnd:with:": "&", "bitwiseOr:with:": "|", "bitwiseXor:with:": "^",
        "leftshift:by:": "<<", "rightshift:by:": ">>",
    ]

    static func text(_ expression: NSExpression) -> String {
        switch expression.form {
        case .constant(let value): return constant(value)
        case .evaluatedObject: return "SELF"
        case .anyKey: return "ANYKEY"
        case .variable(let name): return "$" + name
        case .keyPath(let start, let path): return keyPath(start, path)
        case .function(let target, let name, let arguments): return function(target, name, arguments)
        case .aggregate(let elements): return "{" + list(elements) + "}"
        case .set(let type, let left, let right):
            let name = type == .unionSet ? "UNION" : (type == .intersectSet ? "INTERSECT" : "MINUS")
            return operand(left) + " " + name + " " + operand(right)
        case .subquery(let collection, let variable, let predicate):
            return "SUBQUERY(\(text(collection)), $\(variable), \(PredicatePrinter.text(predicate)))"
        case .conditional(let predicate, let first, let second):
            return "TERNARY(\(PredicatePrinter.text(predicate)), \(text(first)), \(text(second)))"
        case .block(_, let arguments): return "BLOCK(" + list(arguments) + ")"
        case .fetch(let request, let context, let countOnly):
            return "FETCH(\(text(request)), \(text(context)), \(countOnly ? "YES" : "NO"))"
        }
    }

    /// The text of an operand, in parentheses when it is an operation itself.
    static func operand(_ expression: NSExpression) -> String {
        isOperation(expression) ? "(" + text(expression) + ")" : text(expression)
    }

    private static func isOperation(_ expression: NSExpression) -> Bool {
        switch expression.form {
        case .set: true
        case .function(nil, let name, let arguments): operators[name] != nil && arguments.count == 2
        default: false
        }
    }

    private static func list(_ expressions: [NSExpression]) -> String {
        expressions.map(text).joined(separator: ", ")
    }

    private static func function(_ target: NSExpression?, _ name: String, _ arguments: [NSExpression]) -> String {
        if let target {
            let rest = arguments.isEmpty ? "" : ", " + list(arguments)
            return "FUNCTION(\(text(target)), \(QuotedText.of(name))\(rest))"
        }
        switch (name, arguments.count) {
        case ("castObject:toType:", 2): return "CAST(" + list(arguments) + ")"
        case ("objectFrom:withIndex:", 2):
            if case .constant(let marker as PredicateMethod.IndexMarker) = arguments[1].form {
                return indexed(arguments[0]) + "[" + marker.rawValue + "]"
            }
            return indexed(arguments[0]) + "[" + text(arguments[1]) + "]"
        case ("onesComplement:", 1): return "~" + operand(arguments[0])
        default: break
        }
        if let symbol = operators[name], arguments.count == 2 {
            return operand(arguments[0]) + " " + symbol + " " + operand(arguments[1])
        }
        // sum: is written sum, unless the short form would be read as another name.
        let short = name.hasSuffix(":") ? String(name.dropLast()) : name
        return (PredicateFunction.canonicalName(short) == name ? short : name) + "(" + list(arguments) + ")"
    }

    private static func indexed(_ expression: NSExpression) -> String {
        isOperation(expression) ? "(" + text(expression) + ")" : text(expression)
    }

    // MARK: Key paths

    private static func keyPath(_ start: NSExpression?, _ path: KeyPathComponents) -> String {
        guard !path.names.isEmpty, path.names.allSatisfy(isWord) else {
            // A name that cannot be written as a word; Apple's parser reads this spelling as well.
            return "FUNCTION(\(start.map(text) ?? "SELF"), \"valueForKeyPath:\", \(QuotedText.of(path.text)))"
        }
        var names = path.names
        if start == nil, PredicateKeyword.isReserved(names[0]) { names[0] = "#" + names[0] }
        let text = names.joined(separator: ".")
        return start.map { indexed($0) + "." + text } ?? text
    }

    private static func isWord(_ name: String) -> Bool {
        let body = name.utf8.first == UInt8(ascii: "@") ? name.dropFirst() : name[...]
        guard let first = body.utf8.first, PredicateLexer.isWordStart(first) else { return false }
        return body.utf8.allSatisfy(PredicateLexer.isWordPart)
    }

    // MARK: Constants

    static func constant(_ value: Any?) -> String {
        if let marker = value as? PredicateMethod.IndexMarker { return QuotedText.of(marker.rawValue) }
        switch Operand(value) {
        case .null: return "nil"
        case .integer(let number): return String(number)
        case .double(let number):
            return number.isFinite ? number.description : "CAST(\"\(number)\", \"NSNumber\")"
        case .decimal(let number): return decimal(number)
        case .string(let text): return QuotedText.of(text)
        case .date(let seconds):
            let fixed = String(format: "%.6f", seconds)
            return "CAST(\(Double(fixed) == seconds ? fixed : seconds.description), \"NSDate\")"
        case .data(let data): return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .uuid(let uuid): return "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .url(let url): return "CAST(\(QuotedText.of(url.absoluteString)), \"NSURL\")"
        case .list(let elements):
            return "{" + elements.elements.map { constant(AnyElements.plain($0)) }.joined(separator: ", ") + "}"
        case .dictionary, .object: return value.map { String(describing: $0) } ?? "nil"
        }
    }

    private static func decimal(_ number: Decimal) -> String {
        let text = number.description
        if let double = Double(text), double.isFinite, Decimal(string: double.description) == number { return text }
        return "CAST(\"\(text)\", \"NSDecimalNumber\")"
    }
}
