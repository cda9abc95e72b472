import CStrataSupport
import Foundation
import StrataSupport

extension FormatPredicateFactory {
    /// A predicate from its notation with its arguments as a list, which `withVaList(_:_:)` makes; see
    /// `init(format:_:)`.
    ///
    /// `%@` and `%K` take objects, `%s` and `%S` are not allowed here. The list tells nothing of its arguments' sizes:
    /// an integer of 32 bits whose highest bit is set counts as negative.
    public init(format: String, arguments: CVaListPointer) {
        self.init(format: format, argumentArray: ArgumentList.values(format, arguments))
    }
}

/// Reads the arguments of a format off a list of C's.
enum ArgumentList {
    /// One value for each placeholder of the format; none for a faulty format, which its parser reports.
    static func values(_ format: String, _ list: CVaListPointer) -> [Any] {
        guard let placeholders = try? placeholders(format), !placeholders.isEmpty else { return [] }
        let kinds = placeholders.map { CChar(bitPattern: UInt8(ascii: $0 == .double ? "d" : "w")) }
        var words = [UInt64](repeating: 0, count: kinds.count)
        strata_arguments_read(kinds, kinds.count, &words, list)
        return zip(placeholders, words).map { placeholder, word in
            switch placeholder {
            case .double: Double(bitPattern: word)
            case .integer: word >> 31 == 1 ? Int(Int32(truncatingIfNeeded: word)) : Int(bitPattern: UInt(word))
            case .object, .key: object(word)
            case .text:
                programmerError(
                    "NSPredicate(format:arguments:)", "a string of C's is no argument of a predicate",
                    "Use %@ with a String")
            }
        }
    }

    private static func placeholders(_ format: String) throws(PredicateFormatError) -> [PredicateToken.Placeholder] {
        var lexer = try PredicateLexer(format)
        var found: [PredicateToken.Placeholder] = []
        while true {
            switch try lexer.next() {
            case .end: return found
            case .placeholder(let placeholder): found.append(placeholder)
            default: continue
            }
        }
    }

    /// The object at an address, as Swift's own type where Foundation's bridges to one.
    private static func object(_ word: UInt64) -> Any {
        guard let address = UnsafeRawPointer(bitPattern: UInt(word)) else { return NSNull() }
        // SAFETY: what %@ takes is an object, which the maker of the list keeps.
        let object = Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
        return (object as? NSString).map { String(describing: $0) } ?? object
    }
}
