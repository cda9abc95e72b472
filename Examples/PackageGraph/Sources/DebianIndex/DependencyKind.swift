/// How one package stands to another. The raw values are what a store keeps.
public enum DependencyKind: Int16, CaseIterable, Hashable, Sendable {
    /// Has to be configured before this one is unpacked.
    case preDepends = 0
    /// Has to be there.
    case depends
    /// Is there in all but unusual installations.
    case recommends
    /// Makes this one more useful.
    case suggests
    /// Is made more useful by this one.
    case enhances
    /// Must be deconfigured before this one is unpacked.
    case breaks
    /// Cannot be there together with this one.
    case conflicts
    /// Has files that this one takes over.
    case replaces
    /// Is offered by this one: mostly the name of a virtual package.
    case provides

    /// The name of the field.
    public var fieldName: String {
        switch self {
        case .preDepends: "Pre-Depends"
        case .depends: "Depends"
        case .recommends: "Recommends"
        case .suggests: "Suggests"
        case .enhances: "Enhances"
        case .breaks: "Breaks"
        case .conflicts: "Conflicts"
        case .replaces: "Replaces"
        case .provides: "Provides"
        }
    }

    var field: StanzaField {
        switch self {
        case .preDepends: .preDepends
        case .depends: .depends
        case .recommends: .recommends
        case .suggests: .suggests
        case .enhances: .enhances
        case .breaks: .breaks
        case .conflicts: .conflicts
        case .replaces: .replaces
        case .provides: .provides
        }
    }
}
