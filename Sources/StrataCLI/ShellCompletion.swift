import Strata

/// What the shell completes words by.
struct ShellCompletion {
    /// The verbs that make sense in the shell.
    static let verbs = [
        "backup", "compact", "diff", "doctor", "dump", "explain", "export", "get", "help", "history", "info", "query",
        "quit", "schema", "stats", "verify",
    ]
    private static let operators = [
        "ALL", "AND", "ANY", "BEGINSWITH", "BETWEEN", "CONTAINS", "ENDSWITH", "FALSE", "IN", "LIKE", "MATCHES", "NOT",
        "NULL", "OR", "SELF", "SUBQUERY", "TRUE",
    ]
    private static let options = [
        "--after", "--at", "--author", "--bytes", "--distinct", "--entity", "--explain", "--format", "--group-by",
        "--having", "--last", "--limit", "--offset", "--select", "--sort", "--summary",
    ]

    private let model: NSManagedObjectModel

    init(_ model: NSManagedObjectModel) {
        self.model = model
    }

    var entities: [String] { model.entities.compactMap(\.name).sorted() }

    /// What the last word of a text may be, and how many characters of it are there already.
    func candidates(_ text: String) -> (candidates: [String], typed: Int) {
        // The part of the word that a name or operator may be.
        let tail = text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "." }
        let word = String(tail.reversed())
        let before = ShellLine(String(text.dropLast(word.count)))
        guard let verb = before.words.first?.text else { return matching(Self.verbs + entities, word) }
        let entity = before.words.lazy.compactMap { model.entitiesByName[$0.text] }.first
        if word.hasPrefix("-") { return matching(Self.options, word) }
        if before.words.count == 1, entity == nil {
            return ["query", "explain", "dump", "schema"].contains(verb) ? matching(entities, word) : ([], 0)
        }
        switch before.words.last?.text {
        case "--format": return matching(Format.allCases.map(\.rawValue), word)
        case "--entity": return matching(entities, word)
        default: break
        }
        guard let entity, verb != "dump", verb != "schema" else { return matching(entities, word) }
        // Of a key path its last name.
        var owner: NSEntityDescription? = entity
        let names = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for name in names.dropLast() {
            owner = (owner?.propertiesByName[name] as? NSRelationshipDescription)?.destinationEntity
        }
        let keys = owner?.properties.map(\.name).sorted() ?? []
        return matching(names.count > 1 ? keys : keys + Self.operators, names.last ?? "")
    }

    private func matching(_ candidates: [String], _ word: String) -> (candidates: [String], typed: Int) {
        (candidates.filter { $0.hasPrefix(word) }, word.count)
    }
}
