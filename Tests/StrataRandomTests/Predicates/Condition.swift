/// A predicate as the oracle evaluates it.
indirect enum Condition {
    enum Relation: String, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case atMost = "<="
        case greater = ">"
        case atLeast = ">="
        case begins = "BEGINSWITH"
        case ends = "ENDSWITH"
        case contains = "CONTAINS"
    }

    enum Quantifier: String, CaseIterable {
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
    }

    /// An attribute at the end of to-one relationships.
    struct Path {
        var steps: [String]
        var attribute: RandomModel.Attribute

        var text: String { (steps + [attribute.name]).joined(separator: ".") }
    }

    case always(Bool)
    case compare(Path, Relation, Value)
    case isNull(Path, Bool)
    case among(Path, [Value])
    case between(Path, Value, Value)
    /// A to-one relationship, the last of the path, leads to an object or nowhere.
    case leads([String], equal: Bool, to: Int?)
    case members(Quantifier, String, RandomModel.Attribute, Relation, Value)
    case count([String], String, Relation, Int)
    case subquery([String], String, Condition, Relation, Int)
    case and([Condition])
    case or([Condition])
    case not(Condition)
}
