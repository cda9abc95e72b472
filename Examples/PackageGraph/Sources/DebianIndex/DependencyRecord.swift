/// One alternative of one group of a relationship field.
///
/// `Depends: a | b (>= 2), c` makes three: `a` and `b` with group 0 and alternatives 0 and 1, and `c` with group 1.
public struct DependencyRecord: Hashable, Sendable {
    /// The index of the package that has the field.
    public var owner: Int
    /// The index of the package named, nil when neither a package nor a provider of that name is in the index.
    public var target: Int?
    /// The field.
    public var kind: DependencyKind
    /// Which of the field's comma-separated groups, from 0.
    public var group: Int
    /// Which of the group's alternatives, from 0.
    public var alternative: Int
    /// How the version has to compare.
    public var relation: VersionRelation
    /// The version compared with; nil for ``VersionRelation/any``.
    public var version: String?
    /// The architecture after the name, such as `any`.
    public var qualifier: String?
    /// The name written, when there is no ``target``.
    public var unresolvedName: String?
}
