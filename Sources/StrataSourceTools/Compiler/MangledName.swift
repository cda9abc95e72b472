/// Looks into the names of Swift's symbols.
enum MangledName {
    /// Whether a type in the name could not be resolved (`Xe`).
    static func hasUnresolvedType(_ name: String) -> Bool { operators(of: name).contains("Xe") }

    /// Whether a declaration in the name can only be seen in its file (`LL`).
    static func hasPrivateName(_ name: String) -> Bool { operators(of: name).contains("LL") }

    /// The name without its identifiers, each of which is replaced by a space.
    private static func operators(of name: String) -> String {
        var rest = Substring(name)
        var result = ""
        while let first = rest.first {
            guard first.isASCII, first.isNumber else {
                result.append(rest.removeFirst())
                continue
            }
            skipIdentifier(&rest)
            result.append(" ")
        }
        return result
    }

    /// An identifier is its length and its text. One that repeats words of earlier ones starts with 0; letters that
    /// stand for those words, the last one in upper case, come before each part of text.
    private static func skipIdentifier(_ rest: inout Substring) {
        var hasWords = false
        var isPunycode = false
        if rest.first == "0" {
            rest.removeFirst()
            // 00 is an identifier in Punycode, which has no words.
            if rest.first == "0" {
                rest.removeFirst()
                isPunycode = true
            } else {
                hasWords = true
            }
        }
        repeat {
            while hasWords, let letter = rest.first, letter.isASCII, letter.isLetter {
                rest.removeFirst()
                if letter.isUppercase { hasWords = false }
            }
            if rest.first == "0", !hasWords {
                rest.removeFirst()
                return
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let length = Int(digits) else { return }
            rest = rest.dropFirst(digits.count)
            if isPunycode, rest.first == "_" { rest.removeFirst() }
            rest = rest.dropFirst(length)
        } while hasWords
    }
}
