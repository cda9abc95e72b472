import Strata

extension NSManagedObjectModel {
    /// The entity of a name, which may be written with other capitals.
    package func entity(named name: String) throws -> NSEntityDescription {
        if let entity = entitiesByName[name] { return entity }
        let names = entities.compactMap(\.name).sorted()
        if let other = names.first(where: { $0.lowercased() == name.lowercased() }), let entity = entitiesByName[other]
        {
            return entity
        }
        throw CommandError("the store has no entity \(name); it has \(names.joined(separator: ", "))")
    }
}
