/// In what a store's next model differs from the one before.
enum ModelChange {
    case add(RandomModel.Attribute, entity: String)
    case drop(String, entity: String)

    /// Nil if the model has no place for the change.
    func apply(to model: RandomModel) -> RandomModel? {
        switch self {
        case .add(let attribute, let name):
            guard model.number(name) != nil, model.attribute(attribute.name, of: model.number(name) ?? 0) == nil
            else { return nil }
            var entities = model.entities
            for index in entities.indices where entities[index].name == name {
                entities[index].attributes.append(attribute)
            }
            return RandomModel(entities: entities, relationships: model.relationships)
        case .drop(let attribute, let name):
            guard model.entities.contains(where: { $0.name == name && $0.attributes.contains { $0.name == attribute } })
            else { return nil }
            return model.without(["\(name).\(attribute)"])
        }
    }

    /// The rows under the next model.
    func apply(to world: World, _ next: RandomModel) -> World {
        var moved = World(next)
        for (key, thing) in world.things {
            var thing = thing
            switch self {
            case .add(let attribute, let name):
                if next.isKind(thing.entity, of: name) { thing[attribute.name] = attribute.initial }
            case .drop(let attribute, let name):
                if next.isKind(thing.entity, of: name) { thing[attribute] = .null }
            }
            moved.put(key, thing)
        }
        return moved
    }
}
