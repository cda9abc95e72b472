import CoreData
import Foundation
import StrataTestKit

/// A chain of random versions of a model, and what an object of the first version is in each of them: the oracle.
///
/// Every object has a number, its tag, that no version changes, since a manager gives objects new identifiers. Values
/// are whole numbers, which each kind of attribute writes in its own way.
struct MigrationChain {
    enum Kind: CaseIterable, Sendable {
        case text, integer, long, double, decimal

        var type: NSAttributeType {
            switch self {
            case .text: .stringAttributeType
            case .integer: .integer32AttributeType
            case .long: .integer64AttributeType
            case .double: .doubleAttributeType
            case .decimal: .decimalAttributeType
            }
        }

        /// The name of the type in a `CAST`.
        var cast: String {
            switch self {
            case .text: "NSString"
            case .integer, .long: "integer"
            case .double: "double"
            case .decimal: "NSDecimalNumber"
            }
        }

        func value(_ number: Int) -> Any {
            switch self {
            case .text: "\(number)"
            case .integer: Int32(number)
            case .long: Int64(number)
            case .double: Double(number)
            case .decimal: NSDecimalNumber(value: number)
            }
        }
    }

    struct Attribute {
        /// The same in all versions; also what the attribute was called first, for inference.
        let number: Int
        var name: String
        var kind: Kind
        var standard: Int?

        var identifier: String { "a\(number)" }
    }

    struct Link {
        let number: Int
        var name: String
        var inverse: String
        let target: Int

        var identifier: String { "l\(number)" }
    }

    /// The objects of an entity of the first version that an entity of a later one has, and where their values come
    /// from.
    struct Origin {
        let entity: Int
        /// Divisor and remainder of the tags.
        var divisor = 1
        var remainder = 0
        /// By the attribute's number here, that in the first version; none for the standard value.
        var sources: [Int: Int] = [:]

        func has(_ tag: Int) -> Bool { tag % divisor == remainder }
    }

    struct Entity {
        let number: Int
        var name: String
        var attributes: [Attribute] = []
        var links: [Link] = []
        var origins: [Origin] = []
        /// Whether a link leads to it: those are neither split nor merged.
        var isLinked = false

        var identifier: String { "e\(number)" }
    }

    struct Version {
        var entities: [Entity] = []
        /// Whether it can be inferred from the version before.
        var isInferred = true
        /// What the step to it did, for who looks at a failure.
        var steps: [String] = []

        func entity(_ number: Int) -> Entity? { entities.first { $0.number == number } }
    }

    /// An object of the first version.
    struct Object {
        let tag: Int
        let entity: Int
        var values: [Int: Int] = [:]
        /// Tags by the links' numbers.
        var links: [Int: Int] = [:]
    }

    private(set) var versions: [Version] = []
    private(set) var objects: [Object] = []
    private var random: SeededGenerator
    private var count = 0

    /// - Parameter isInferred: whether no step needs a mapping.
    init(seed: UInt64, length: Int, isInferred: Bool) {
        random = SeededGenerator(seed: seed)
        var first = Version()
        for _ in 0..<3 { first.entities.append(newEntity()) }
        for index in first.entities.indices {
            let number = first.entities[index].number
            let sources = first.entities[index].attributes.map { ($0.number, $0.number) }
            first.entities[index].origins = [
                Origin(entity: number, sources: Dictionary(uniqueKeysWithValues: sources))
            ]
        }
        addLink(&first)
        versions = [first]
        for _ in 1..<length { versions.append(next(versions[versions.count - 1], isInferred: isInferred)) }
        fill(first)
    }

    // MARK: Versions

    private mutating func number() -> Int {
        count += 1
        return count
    }

    /// Names come in no order, so that slots change places.
    private mutating func name(_ prefix: String) -> String { "\(prefix)\(draw(1_000))x\(number())" }

    private mutating func draw(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func newAttribute() -> Attribute {
        let standard = draw(2) == 0 ? draw(100) : nil
        return Attribute(
            number: number(), name: name("a"), kind: Kind.allCases[draw(Kind.allCases.count)], standard: standard)
    }

    private mutating func newEntity() -> Entity {
        var entity = Entity(number: number(), name: name("E"))
        for _ in 0..<3 { entity.attributes.append(newAttribute()) }
        return entity
    }

    private mutating func addLink(_ version: inout Version) {
        let (from, to) = (draw(version.entities.count), draw(version.entities.count))
        version.entities[from].links.append(
            Link(number: number(), name: name("l"), inverse: name("i"), target: version.entities[to].number))
        version.entities[from].isLinked = true
        version.entities[to].isLinked = true
    }

    private mutating func next(_ last: Version, isInferred: Bool) -> Version {
        var version = last
        (version.isInferred, version.steps) = (true, [])
        for _ in 0...draw(4) {
            let index = draw(version.entities.count)
            switch draw(isInferred ? 8 : 12) {
            case 0, 1: version.note("add", add(to: &version.entities[index]))
            case 2 where version.entities[index].attributes.count > 1:
                let gone = version.entities[index].attributes.remove(at: draw(version.entities[index].attributes.count))
                version.note("remove", gone.name)
            case 3:
                let place = draw(version.entities[index].attributes.count)
                version.entities[index].attributes[place].name = name("b")
                version.note("rename", version.entities[index].attributes[place].name)
            case 4:
                version.entities[index].name = name("F")
                version.note("rename", version.entities[index].name)
            case 5:
                version.entities.append(newEntity())
                version.note("new entity", version.entities[version.entities.count - 1].name)
            case 6: changeLink(&version)
            case 7 where version.entities.count > 3 && !version.entities[index].isLinked:
                version.note("remove entity", version.entities.remove(at: index).name)
            case 8, 9: convert(&version, index)
            case 10: split(&version, index)
            case 11: merge(&version, index)
            default: break
            }
        }
        return version
    }

    private mutating func add(to entity: inout Entity) -> String {
        let attribute = newAttribute()
        entity.attributes.append(attribute)
        return attribute.name
    }

    private mutating func changeLink(_ version: inout Version) {
        let linking = version.entities.indices.filter { !version.entities[$0].links.isEmpty }
        guard let index = linking.first else { return }
        if draw(2) == 0 {
            version.entities[index].links[0].name = name("m")
            version.note("rename link", version.entities[index].links[0].name)
        } else {
            version.note("remove link", version.entities[index].links.remove(at: 0).name)
        }
    }

    private mutating func convert(_ version: inout Version, _ index: Int) {
        let place = draw(version.entities[index].attributes.count)
        let kind = Kind.allCases[draw(Kind.allCases.count)]
        guard version.entities[index].attributes[place].kind != kind else { return }
        version.entities[index].attributes[place].kind = kind
        version.isInferred = false
        version.note("convert", version.entities[index].attributes[place].name)
    }

    /// Every other object goes to a new entity with the same attributes.
    private mutating func split(_ version: inout Version, _ index: Int) {
        guard !version.entities[index].isLinked, !version.entities[index].origins.isEmpty else { return }
        var half = Entity(number: number(), name: name("S"))
        let old = version.entities[index]
        var numbers: [Int: Int] = [:]
        for attribute in old.attributes {
            let copy = Attribute(
                number: number(), name: name("s"), kind: attribute.kind, standard: attribute.standard)
            numbers[attribute.number] = copy.number
            half.attributes.append(copy)
        }
        version.entities[index].origins = []
        for origin in old.origins {
            var (stays, goes) = (origin, origin)
            (stays.divisor, goes.divisor) = (origin.divisor * 2, origin.divisor * 2)
            goes.remainder = origin.remainder + origin.divisor
            goes.sources = [:]
            for (target, source) in origin.sources {
                if let new = numbers[target] { goes.sources[new] = source }
            }
            version.entities[index].origins.append(stays)
            half.origins.append(goes)
        }
        version.entities.append(half)
        version.isInferred = false
        version.note("split", half.name)
    }

    /// The objects of one entity come to another one, with the values of as many attributes as both have.
    private mutating func merge(_ version: inout Version, _ index: Int) {
        let old = version.entities[index]
        guard version.entities.count > 2, !old.isLinked,
            let other = version.entities.indices.first(where: { $0 != index && !version.entities[$0].isLinked })
        else { return }
        let pairs = zip(version.entities[other].attributes, old.attributes)
        for var origin in old.origins {
            let sources = origin.sources
            origin.sources = [:]
            for (target, source) in pairs {
                if let first = sources[source.number] { origin.sources[target.number] = first }
            }
            version.entities[other].origins.append(origin)
        }
        version.note("merge", "\(old.name) into \(version.entities[other].name)")
        version.entities.remove(at: index)
        version.isInferred = false
    }

    // MARK: Objects

    private mutating func fill(_ first: Version) {
        for entity in first.entities {
            for _ in 0..<(4 + draw(12)) {
                var object = Object(tag: objects.count, entity: entity.number)
                for attribute in entity.attributes where draw(4) > 0 {
                    object.values[attribute.number] = draw(500)
                }
                objects.append(object)
            }
        }
        for index in objects.indices {
            for link in first.entity(objects[index].entity)?.links ?? [] where draw(3) > 0 {
                let targets = objects.filter { $0.entity == link.target }
                objects[index].links[link.number] = targets[draw(targets.count)].tag
            }
        }
    }

    /// The value that an object of the first version has in a later one; nil for null.
    ///
    /// An attribute that came later has its standard value. One that was null stays so.
    func value(_ object: Object, _ origin: Origin, _ attribute: Attribute) -> Int? {
        guard let source = origin.sources[attribute.number] else { return attribute.standard }
        return object.values[source]
    }
}

extension MigrationChain.Version {
    fileprivate mutating func note(_ step: String, _ name: String) { steps.append("\(step) \(name)") }

    func model() -> NSManagedObjectModel {
        let descriptions = entities.map { entity in
            let description = GraphModel.entity(entity.name)
            description.renamingIdentifier = entity.identifier
            description.properties = [GraphModel.attribute("tag", .integer64AttributeType, optional: false, default: 0)]
            description.properties += entity.attributes.map { attribute in
                GraphModel.attribute(
                    attribute.name, attribute.kind.type, default: attribute.standard.map { attribute.kind.value($0) }
                ).renamed(from: attribute.identifier)
            }
            return description
        }
        for (entity, description) in zip(entities, descriptions) {
            for link in entity.links {
                guard let place = entities.firstIndex(where: { $0.number == link.target }) else { continue }
                let target = descriptions[place]
                let toOne = GraphModel.relationship(link.name, to: target).renamed(from: link.identifier)
                let toMany = GraphModel.relationship(link.inverse, to: description, toMany: true)
                    .renamed(from: link.identifier + "i")
                GraphModel.link(toOne, toMany)
                description.properties.append(toOne)
                target.properties.append(toMany)
            }
        }
        return makeModel(descriptions)
    }
}
