import CoreData
import StrataTestKit

/// A random model of relationships with delete rules, a random graph over it as pairs of numbers, and what its rules
/// make of a deletion.
struct RuledGraph {
    /// A relationship from `source` to `destination` and, unless it is one-way, the inverse of it.
    struct Pair {
        var source: Int
        var destination: Int
        var rule: NSDeleteRule
        /// Nil for a one-way relationship.
        var inverseRule: NSDeleteRule?
        var isToMany: Bool
        var inverseIsToMany: Bool
        var isOrdered: Bool
        /// Whether the relationship is its own inverse.
        var isSymmetric = false
    }

    struct Edge: Hashable {
        var from: Int
        var to: Int
    }

    static let entities = ["Base", "Special", "Other"]
    let pairs: [Pair]
    /// The entity of each object, by its number.
    let kinds: [Int]
    /// By pair.
    var edges: [Set<Edge>]

    init(_ random: inout SeededGenerator, objects: Int, hasSubentities: Bool = true) {
        var pairs: [Pair] = []
        for _ in 0..<(1 + random.below(4)) { pairs.append(Self.pair(&random)) }
        self.pairs = pairs
        kinds = (0..<objects).map { _ in hasSubentities ? random.below(Self.entities.count) : 2 * random.below(2) }
        edges = pairs.map { _ in [] }
        for _ in 0..<(objects * 2) { connect(&random) }
    }

    private static func pair(_ random: inout SeededGenerator) -> Pair {
        // Cascades, which are followed, are what this is about.
        let rules: [NSDeleteRule] = [
            .cascadeDeleteRule, .cascadeDeleteRule, .cascadeDeleteRule, .nullifyDeleteRule, .nullifyDeleteRule,
            .nullifyDeleteRule, .denyDeleteRule, .noActionDeleteRule,
        ]
        var pair = Pair(
            source: random.below(entities.count), destination: random.below(entities.count),
            rule: rules[random.below(rules.count)],
            inverseRule: random.below(6) == 0 ? nil : rules[random.below(rules.count)],
            isToMany: random.below(3) > 0, inverseIsToMany: random.below(2) == 0, isOrdered: random.below(4) == 0)
        if pair.source == pair.destination, random.below(6) == 0 {
            pair.isSymmetric = true
            pair.inverseRule = pair.rule
            pair.inverseIsToMany = pair.isToMany
            pair.isOrdered = false
        }
        // Anything may refer one way to the same object.
        if pair.inverseRule == nil { pair.inverseIsToMany = true }
        return pair
    }

    private func isKind(_ object: Int, _ entity: Int) -> Bool {
        kinds[object] == entity || (kinds[object] == 1 && entity == 0)
    }

    /// Adds an edge somewhere, where the model takes one; what a to-one end had before goes.
    ///
    /// - Returns: where the edge is.
    @discardableResult
    mutating func connect(_ random: inout SeededGenerator, avoiding gone: Set<Int> = []) -> (pair: Int, edge: Edge)? {
        let index = random.below(pairs.count)
        let pair = pairs[index]
        let edge = Edge(from: random.below(kinds.count), to: random.below(kinds.count))
        guard isKind(edge.from, pair.source), isKind(edge.to, pair.destination), !gone.contains(edge.from),
            !gone.contains(edge.to)
        else { return nil }
        if pair.isSymmetric {
            if !pair.isToMany {
                let ends = [edge.from, edge.to]
                edges[index] = edges[index].filter { !ends.contains($0.from) && !ends.contains($0.to) }
            }
            edges[index].insert(Edge(from: edge.to, to: edge.from))
        } else {
            if !pair.isToMany { edges[index] = edges[index].filter { $0.from != edge.from } }
            if !pair.inverseIsToMany { edges[index] = edges[index].filter { $0.to != edge.to } }
        }
        edges[index].insert(edge)
        return (index, edge)
    }

    /// Removes an edge.
    ///
    /// - Returns: where it was; nil if there was none to find.
    mutating func disconnect(_ random: inout SeededGenerator) -> (pair: Int, edge: Edge)? {
        let index = random.below(pairs.count)
        let all = edges[index].sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        guard !all.isEmpty else { return nil }
        let edge = all[random.below(all.count)]
        edges[index].remove(edge)
        if pairs[index].isSymmetric { edges[index].remove(Edge(from: edge.to, to: edge.from)) }
        return (index, edge)
    }

    // MARK: Deleting

    /// Everything that goes along with some objects.
    func closure(of roots: Set<Int>) -> Set<Int> {
        var gone = roots
        var isGrowing = true
        while isGrowing {
            let before = gone.count
            for (pair, edges) in zip(pairs, edges) {
                for edge in edges {
                    if pair.rule == .cascadeDeleteRule, gone.contains(edge.from) { gone.insert(edge.to) }
                    if pair.inverseRule == .cascadeDeleteRule, gone.contains(edge.to) { gone.insert(edge.from) }
                }
            }
            isGrowing = gone.count > before
        }
        return gone
    }

    /// Whether a rule denies that these objects, and no others, go.
    func denies(_ gone: Set<Int>) -> Bool {
        zip(pairs, edges).contains { pair, edges in
            edges.contains { edge in
                (pair.rule == .denyDeleteRule && gone.contains(edge.from) && !gone.contains(edge.to))
                    || (pair.inverseRule == .denyDeleteRule && gone.contains(edge.to) && !gone.contains(edge.from))
            }
        }
    }

    /// What an object that stays is related to afterwards, by the relationship or its inverse; nil where the rules
    /// leave a reference that leads nowhere.
    func related(_ object: Int, pair index: Int, isInverse: Bool, without gone: Set<Int>) -> Set<Int>? {
        let pair = pairs[index]
        // The rule of the other end says what becomes of this one.
        let rule = isInverse ? pair.rule : pair.inverseRule
        var found: Set<Int> = []
        for edge in edges[index] {
            let (own, other) = isInverse ? (edge.to, edge.from) : (edge.from, edge.to)
            guard own == object else { continue }
            if !gone.contains(other) {
                found.insert(other)
            } else if rule == nil || rule == .noActionDeleteRule {
                return nil
            }
        }
        return found
    }

    // MARK: The same as a model

    func model() -> NSManagedObjectModel {
        let entities = Self.entities.map { GraphModel.entity($0) }
        for (entity, attribute) in zip(entities, ["n", "extra", "n"]) {
            entity.properties = [GraphModel.attribute(attribute, .integer64AttributeType)]
        }
        entities[0].subentities = [entities[1]]
        for (index, pair) in pairs.enumerated() {
            let forward = GraphModel.relationship(
                "r\(index)", to: entities[pair.destination], toMany: pair.isToMany, rule: pair.rule,
                ordered: pair.isToMany && pair.isOrdered)
            entities[pair.source].properties.append(forward)
            guard let rule = pair.inverseRule else { continue }
            if pair.isSymmetric {
                forward.inverseRelationship = forward
                continue
            }
            let back = GraphModel.relationship(
                "i\(index)", to: entities[pair.source], toMany: pair.inverseIsToMany, rule: rule)
            entities[pair.destination].properties.append(back)
            GraphModel.link(forward, back)
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }
}
