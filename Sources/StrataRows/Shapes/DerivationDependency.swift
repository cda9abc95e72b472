/// Whose derived attributes a change of an object touches.
package struct DerivationDependency {
    /// The changed object's entity.
    package let source: EntityShape
    /// What counts: the property of the source that the derivation reads. Nil for the object itself (`@count`).
    package let property: String?
    /// From the source back to the objects with the derived attribute.
    package let way: [RelationshipShape]

    /// What has to be watched for the derivations of a shape. A relationship without inverse leads nowhere back, so
    /// what lies beyond it is looked at only when the object itself is saved.
    package static func of(_ shape: EntityShape) -> [DerivationDependency] {
        var all: [DerivationDependency] = []
        for path in shape.derivations.flatMap(\.paths) {
            var current = shape
            var way: [RelationshipShape] = []
            for (index, name) in path.names.enumerated() {
                guard let relationship = current.relationship(name), let inverse = relationship.inverse else { break }
                current = relationship.destination
                way.insert(inverse, at: 0)
                let next = index + 1 < path.names.count ? path.names[index + 1] : nil
                all.append(DerivationDependency(source: current, property: next, way: way))
            }
        }
        return all
    }
}
