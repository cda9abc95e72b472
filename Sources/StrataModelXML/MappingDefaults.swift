import StrataModelFile

/// The expressions that Xcode makes up for what a mapping model leaves open: values come from properties of the same
/// name.
struct MappingDefaults {
    let source: EntityGraph
    let destination: EntityGraph
    /// The mappings' source entities and names.
    let mappings: [(source: String?, name: String)]

    /// All objects of an entity.
    static func sourceExpression(_ entity: String) -> String {
        "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \(quoted(entity)), "
            + "\"TRUEPREDICATE\"), $manager.sourceContext, NO)"
    }

    /// Nil when the source has no such attribute.
    func attribute(_ name: String, of entity: String) -> String? {
        let own = source.entities[entity].map { [$0] + (source.ancestors(of: $0) ?? []) } ?? []
        return own.contains { $0.attributes.contains { $0.name == name } } ? "$source.\(name)" : nil
    }

    /// Nil when the source has no such relationship. Where one mapping alone makes what it leads to, it is named.
    func relationship(_ name: String, of entity: String) -> String? {
        guard let (_, found) = source.relationship(name, of: entity) else { return nil }
        let makers = mappings.filter { $0.source == found.destinationName }
        let hasSubentities = source.entities.values.contains { $0.parentName == found.destinationName }
        guard makers.count == 1, !hasSubentities else {
            return
                "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", "
                + "\(Self.quoted(name)), $source.\(name))"
        }
        return
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
            + "\(Self.quoted(makers[0].name)), $source.\(name))"
    }

    /// Whether an entity of the destination has an attribute, or a relationship, of a name.
    func hasDestination(_ name: String, isRelationship: Bool, of entity: String) -> Bool {
        if isRelationship { return destination.relationship(name, of: entity) != nil }
        // Of a composite attribute elements are mapped, too.
        let first = name.prefix { $0 != "." }
        let own = destination.entities[entity].map { [$0] + (destination.ancestors(of: $0) ?? []) } ?? []
        return own.contains { $0.attributes.contains { $0.name == first } }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
