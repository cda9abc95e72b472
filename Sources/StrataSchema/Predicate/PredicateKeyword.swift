/// Words with a meaning in the predicate language; case does not matter.
enum PredicateKeyword {
    /// Words that begin an operand or a predicate.
    private static let prefixes: Set<String> = [
        "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NIL",
        "NULL",
        "SELF", "ANYKEY",
    ]

    /// Operators written as words.
    static let comparisons: [String: NSComparisonPredicate.Operator] = [
        "BETWEEN": .between, "IN": .in, "LIKE": .like, "MATCHES": .matches, "CONTAINS": .contains,
        "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
    ]

    /// Set operations written as words; they are ordinary names where an operand is expected.
    static let setOperations: [String: NSExpression.ExpressionType] = [
        "UNION": .unionSet, "INTERSECT": .intersectSet, "MINUS": .minusSet,
    ]

    // Reserved by Apple's parser as well; they are printed with a # so that both read them back.
    private static let indexes: Set<String> = ["FIRST", "LAST", "SIZE"]

    /// Whether a key of this name has to be written with a `#`.
    static func isReserved(_ word: String) -> Bool {
        let word = word.uppercased()
        return cannotBeKey(word) || indexes.contains(word)
    }

    /// Whether a word, in upper case, is never a key path.
    static func cannotBeKey(_ word: String) -> Bool {
        prefixes.contains(word) || comparisons[word] != nil || word == "AND" || word == "OR"
    }
}
