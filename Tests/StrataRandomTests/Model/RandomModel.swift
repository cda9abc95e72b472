/// A model as plain data: what is drawn, and what the oracle knows.
struct RandomModel {
    enum Rule: String { case nullify, cascade, deny, noAction }

    struct Attribute {
        /// That of an element of a composite is its path.
        var name: String
        var kind: Kind
        /// The to-many relationship whose members a derived attribute counts.
        var counts: String?
        /// What new objects have.
        var initial = Value.null

        /// The composite that it is an element of.
        var composite: String? { name.split(separator: ".").count == 2 ? String(name.prefix { $0 != "." }) : nil }
        /// Its name in its composite.
        var element: String { String(name.drop { $0 != "." }.dropFirst()) }
    }

    struct Entity {
        var name: String
        var parent: String?
        var isAbstract = false
        /// Its own, without inherited ones.
        var attributes: [Attribute] = []
        /// Attributes that are not stored, its own.
        var transients: [Attribute] = []
        /// Each the names of attributes, its own or inherited ones.
        var indexes: [[String]] = []
        /// Whether its objects are never deleted, so that relationships without inverse may lead to them.
        var isPermanent = false
    }

    struct Relationship {
        /// Of no other relationship of the model.
        var name: String
        /// The relationship's own name if it is its own inverse; nil if it has none.
        var inverse: String?
        var owner: String
        var destination: String
        var isToMany: Bool
        var isOrdered = false
        var rule = Rule.nullify
    }

    private(set) var entities: [Entity]
    private(set) var relationships: [Relationship]
    private var numbers: [String: Int] = [:]
    private var relations: [String: Relationship] = [:]
    private var lines: [[String]] = []
    /// By entity: attributes with inherited ones, and relationships.
    private(set) var allAttributes: [[Attribute]] = []
    private(set) var allTransients: [[Attribute]] = []
    private(set) var allRelationships: [[Relationship]] = []

    init(entities: [Entity], relationships: [Relationship]) {
        self.entities = entities
        self.relationships = relationships
        for (number, entity) in entities.enumerated() { numbers[entity.name] = number }
        for relationship in relationships { relations[relationship.name] = relationship }
        lines = entities.indices.map { lineage($0) }
        func inherited(_ attributes: (Entity) -> [Attribute]) -> [[Attribute]] {
            entities.indices.map { number in
                lines[number].reversed().flatMap { name in entities.first { $0.name == name }.map(attributes) ?? [] }
            }
        }
        allAttributes = inherited(\.attributes)
        allTransients = inherited(\.transients)
        allRelationships = entities.indices.map { number in
            relationships.filter { lines[number].contains($0.owner) }
        }
    }

    private func lineage(_ number: Int) -> [String] {
        var line = [entities[number].name]
        while let parent = entities[numbers[line[line.count - 1]] ?? 0].parent { line.append(parent) }
        return line
    }

    func number(_ entity: String) -> Int? { numbers[entity] }
    func relation(_ name: String) -> Relationship? { relations[name] }
    /// The entity and those it inherits from, from the bottom up.
    func line(_ number: Int) -> [String] { lines[number] }
    func root(_ number: Int) -> String { lines[number][lines[number].count - 1] }
    func isKind(_ number: Int, of entity: String) -> Bool { lines[number].contains(entity) }

    func attribute(_ name: String, of number: Int) -> Attribute? {
        name == Self.key.name ? Self.key : allAttributes[number].first { $0.name == name }
    }

    /// By which each object is known to the program.
    static let key = Attribute(name: "key", kind: .int64)

    var roots: [Entity] { entities.filter { $0.parent == nil } }

    /// The model without some entities, attributes and relationships, by their names (attributes with their entity's).
    func without(_ names: Set<String>) -> RandomModel {
        guard !names.isEmpty else { return self }
        var gone = names
        for number in entities.indices where line(number).contains(where: names.contains) {
            gone.insert(entities[number].name)
        }
        var links = relationships.filter {
            !gone.contains($0.name) && !gone.contains($0.owner) && !gone.contains($0.destination)
                && !($0.inverse.map(gone.contains) ?? false)
        }
        links.sort { $0.name < $1.name }
        let rest = entities.filter { !gone.contains($0.name) }.map { entity in
            var entity = entity
            entity.attributes.removeAll { attribute in
                gone.contains("\(entity.name).\(attribute.name)")
                    || attribute.counts.map { name in !links.contains { $0.name == name } } ?? false
            }
            entity.indexes.removeAll { gone.contains("\(entity.name)#\($0.joined(separator: "#"))") }
            return entity
        }
        var model = RandomModel(entities: rest, relationships: links)
        for number in model.entities.indices {
            let names = model.allAttributes[number].map(\.name) + [Self.key.name]
            model.entities[number].indexes.removeAll { !$0.allSatisfy(names.contains) }
        }
        return model
    }

    /// What ``without(_:)`` may leave out, large parts first.
    var parts: [String] {
        entities.map(\.name) + relationships.map(\.name)
            + entities.flatMap { entity in
                entity.indexes.map { "\(entity.name)#\($0.joined(separator: "#"))" }
                    + entity.attributes.map { "\(entity.name).\($0.name)" }
            }
    }
}
