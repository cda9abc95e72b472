/// How a version has to compare with the one named in a dependency. The raw values are what a store keeps.
public enum VersionRelation: Int16, CaseIterable, Hashable, Sendable {
    /// No version is named.
    case any = 0
    case earlier
    case earlierOrEqual
    case equal
    case laterOrEqual
    case later

    /// The operator as it is written in an index, empty for ``any``.
    public var symbol: String {
        switch self {
        case .any: ""
        case .earlier: "<<"
        case .earlierOrEqual: "<="
        case .equal: "="
        case .laterOrEqual: ">="
        case .later: ">>"
        }
    }
}
