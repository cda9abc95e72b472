extension ModelShapes {
    /// The shape of the entity that a request names, by the entity's name or by that of its class.
    ///
    /// Programs name entities by `NSStringFromClass(CDPage.self)`. On Apple's platforms that is "CDPage", as Xcode
    /// writes `@objc(CDPage)` before the class; here it is "Model.CDPage". So a class's full name finds its entity, if
    /// that has the name that the class has in Objective-C.
    ///
    /// - Complexity: O(1) for the name of an entity; O(entities) for any other.
    package func shape(named name: String) -> EntityShape? {
        if let shape = byName[name] { return shape }
        guard name.contains(".") else { return nil }
        return byName.values.first { shape in
            guard let type = shape.entityClass.type else { return false }
            return shape.name == (type as? any ModelObject.Type)?.objectiveCName ?? "\(type)"
                && String(reflecting: type) == name
        }
    }

    /// The names of entities, as far as the model has them, with those of all that they inherit from.
    package func lineages(of names: some Sequence<String>) -> Set<String> {
        var all: Set<String> = []
        for name in names { all.formUnion(byName[name]?.lineage.map(\.name) ?? []) }
        return all
    }
}
