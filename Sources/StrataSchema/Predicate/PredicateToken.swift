/// A lexical element of a predicate string.
enum PredicateToken: Equatable {
    case end
    /// A whole number without its sign.
    case integer(UInt64)
    case double(Double)
    case string(String)
    /// A name or keyword.
    case word(String)
    /// `#name` (without the `#`) or `@name` (with the `@`): never a keyword.
    case key(String)
    /// `name:` or `name:name:`, directly before a parenthesis.
    case selector(String)
    /// `$name`.
    case variable(String)
    case placeholder(Placeholder)
    case symbol(Symbol)

    /// What a `%` stands for.
    enum Placeholder: Equatable {
        case object
        case key
        case integer
        case double
        case text
    }

    enum Symbol: String {
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBrace = "{"
        case closeBrace = "}"
        case openBracket = "["
        case closeBracket = "]"
        case comma = ","
        case dot = "."
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case and = "&&"
        case or = "||"
        case not = "!"
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divide = "/"
        case power = "**"
        case bitAnd = "&"
        case bitOr = "|"
        case bitXor = "^"
        case bitNot = "~"
        case shiftLeft = "<<"
        case shiftRight = ">>"
    }

    /// How the token is called in an error.
    var name: String {
        switch self {
        case .end: "the end of the string"
        case .integer(let value): "the number \(value)"
        case .double(let value): "the number \(value)"
        case .string: "a string"
        case .word(let name), .key(let name), .selector(let name): "'\(name)'"
        case .variable(let name): "'$\(name)'"
        case .placeholder: "a placeholder"
        case .symbol(let symbol): "'\(symbol.rawValue)'"
        }
    }
}
