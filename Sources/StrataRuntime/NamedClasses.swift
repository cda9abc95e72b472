/// A class that is declared in a module, outside of other types, by its full name.
///
/// Assumes: the standard library's `_typeByName` takes a mangled name, and that of such a class is, in Swift's stable
/// mangling, the lengths and names of module and class and then `C` (Mangling.rst). Foundation's `NSClassFromString`
/// does the same, and takes names apart by ways that cost half a millisecond the first time.
/// If that were wrong: nothing is found, and whoever asks goes on with `NSClassFromString`.
package enum NamedClasses {
    /// The class with this name, such as `Shop.Order`; nil for names of other forms, and when there is none.
    package static func named(_ name: String) -> AnyClass? {
        let text = name.utf8
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        let (module, own) = (name[..<point], name[text.index(after: point)...])
        guard isPlain(module), isPlain(own) else { return nil }
        return _typeByName("\(module.utf8.count)\(module)\(own.utf8.count)\(own)C") as? AnyClass
    }

    /// Whether an identifier is mangled as it is.
    private static func isPlain(_ identifier: Substring) -> Bool {
        guard let first = identifier.utf8.first, !isDigit(first) else { return false }
        return identifier.utf8.allSatisfy {
            isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    // MARK: Check

    static func check() -> String? {
        guard named("StrataRuntime.NamedClassesProbe") == NamedClassesProbe.self else {
            return "a class of this module is not found by its name"
        }
        guard named("StrataRuntime.NoSuchClass") == nil else { return "a class is found that there is not" }
        return nil
    }
}

/// Of this class no object is made.
final class NamedClassesProbe {}
