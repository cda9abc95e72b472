import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random chains of models, with changes of the data between, beside a plain dictionary.
@Suite struct RandomMigrationTests {
    private struct Attribute {
        var number: Int
        var name: String
        var formerName: String
        var isText: Bool
        var standard: String?
    }

    private struct Entity {
        var number: Int
        var name: String
        var formerName: String
        var attributes: [Attribute]
        /// A many-to-many relationship to the entity itself.
        var link: Attribute?
    }

    private struct Object {
        var entity: Int
        var values: [Int: String]
        var linked: Set<String> = []
    }

    private final class Chain {
        var random: SeededGenerator
        var entities: [Entity] = []
        var objects: [String: Object] = [:]
        var count = 0
        let store: MigratedStore

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            store = try MigratedStore()
            for _ in 0..<3 { addEntity() }
        }

        /// What an object is known by: URIs have the entity's name.
        func key(_ object: NSManagedObject, _ entity: Int) -> String {
            "\(entity)/\(object.objectID.uriRepresentation().lastPathComponent)"
        }

        func number() -> Int {
            count += 1
            return count
        }

        /// Names come in no order, so that slots change places.
        func name(_ prefix: String) -> String { "\(prefix)\(Int.random(in: 0..<1000, using: &random))x\(number())" }

        private static func value(_ text: String, _ attribute: Attribute) -> Any {
            attribute.isText ? text : Int32(text) ?? 0
        }

        func addEntity() {
            let name = name("E")
            entities.append(Entity(number: number(), name: name, formerName: name, attributes: [], link: nil))
            for _ in 0..<3 { addAttribute(to: entities.count - 1) }
        }

        func addAttribute(to index: Int) {
            let name = name("a")
            let isText = Bool.random(using: &random)
            let standard = Bool.random(using: &random) ? "\(Int.random(in: 0..<100, using: &random))" : nil
            let attribute = Attribute(
                number: number(), name: name, formerName: name, isText: isText, standard: standard)
            entities[index].attributes.append(attribute)
            guard let standard else { return }
            for (uri, object) in objects where object.entity == entities[index].number {
                objects[uri]?.values[attribute.number] = standard
            }
        }

        func model() -> NSManagedObjectModel {
            let descriptions = entities.map { entity in
                let description = GraphModel.entity(entity.name)
                description.renamingIdentifier = entity.formerName
                description.properties = entity.attributes.map { attribute in
                    let value: Any? = attribute.standard.map { Self.value($0, attribute) }
                    return GraphModel.attribute(
                        attribute.name, attribute.isText ? .stringAttributeType : .integer32AttributeType,
                        default: value
                    ).renamed(from: attribute.formerName)
                }
                if let link = entity.link {
                    let relationship = GraphModel.relationship(link.name, to: description, toMany: true)
                        .renamed(from: link.formerName)
                    relationship.inverseRelationship = relationship
                    description.properties.append(relationship)
                }
                return description
            }
            return makeModel(descriptions)
        }

        func changeModel() {
            for index in entities.indices {
                entities[index].formerName = entities[index].name
                let link = entities[index].link?.name ?? ""
                entities[index].link?.formerName = link
                for attribute in entities[index].attributes.indices {
                    entities[index].attributes[attribute].formerName = entities[index].attributes[attribute].name
                }
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = entities.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<9, using: &random) {
                case 0, 1: addAttribute(to: index)
                case 2 where entities[index].attributes.count > 1:
                    let place = entities[index].attributes.indices.randomElement(using: &random) ?? 0
                    entities[index].attributes.remove(at: place)
                case 3, 4:
                    let place = entities[index].attributes.indices.randomElement(using: &random) ?? 0
                    entities[index].attributes[place].name = name("b")
                case 5: entities[index].name = name("F")
                case 6: addEntity()
                case 7 where entities.count > 2:
                    let gone = entities.remove(at: index)
                    objects = objects.filter { $0.value.entity != gone.number }
                case 8:
                    if entities[index].link != nil, Bool.random(using: &random) {
                        entities[index].link = nil
                        for (uri, object) in objects where object.entity == entities[index].number {
                            objects[uri]?.linked = []
                        }
                    } else {
                        let name = name("l")
                        let former = entities[index].link?.name ?? name
                        entities[index].link = Attribute(
                            number: 0, name: name, formerName: entities[index].link?.formerName ?? former, isText: false
                        )
                    }
                default: break
                }
            }
        }

        func work(_ context: NSManagedObjectContext) throws {
            var changed: [(NSManagedObject, Object)] = []
            for entity in entities {
                var known = try context.all(entity.name)
                for _ in 0..<Int.random(in: 0..<6, using: &random) {
                    let new = context.insert(entity.name, [:])
                    var values: [Int: String] = [:]
                    for attribute in entity.attributes { values[attribute.number] = attribute.standard }
                    changed.append((new, Object(entity: entity.number, values: values)))
                    set(new, entity, &changed[changed.count - 1].1)
                    known.append(new)
                }
                for object in known where !object.isInserted && Int.random(in: 0..<4, using: &random) == 0 {
                    guard let old = objects[key(object, entity.number)] else { continue }
                    if Int.random(in: 0..<5, using: &random) == 0 {
                        objects[key(object, entity.number)] = nil
                        for uri in old.linked { objects[uri]?.linked.remove(key(object, entity.number)) }
                        context.delete(object)
                    } else {
                        changed.append((object, old))
                        set(object, entity, &changed[changed.count - 1].1)
                    }
                }
            }
            try context.save()
            for (object, values) in changed {
                var values = values
                values.linked = objects[key(object, values.entity)]?.linked ?? []
                objects[key(object, values.entity)] = values
            }
            try link(context)
        }

        private func set(_ object: NSManagedObject, _ entity: Entity, _ values: inout Object) {
            for attribute in entity.attributes where Bool.random(using: &random) {
                let value =
                    Int.random(in: 0..<3, using: &random) == 0 ? nil : "\(Int.random(in: 0..<500, using: &random))"
                values.values[attribute.number] = value
                object.setValue(value.map { Self.value($0, attribute) }, forKey: attribute.name)
            }
        }

        private func link(_ context: NSManagedObjectContext) throws {
            for entity in entities {
                guard let link = entity.link else { continue }
                let all = try context.all(entity.name).sorted { $0.uri() < $1.uri() }
                guard all.count > 2, let object = all.randomElement(using: &random) else { continue }
                let targets = all.filter { $0 !== object && Bool.random(using: &random) }
                object.setValue(NSSet(array: targets), forKey: link.name)
                let uri = key(object, entity.number)
                for other in objects.keys { objects[other]?.linked.remove(uri) }
                objects[uri]?.linked = Set(targets.map { key($0, entity.number) })
                for target in targets { objects[key(target, entity.number)]?.linked.insert(uri) }
            }
            try context.save()
        }

        func check(_ context: NSManagedObjectContext, _ hint: String) throws {
            var seen = 0
            for entity in entities {
                for object in try context.all(entity.name) {
                    seen += 1
                    let expected = try #require(
                        objects[key(object, entity.number)], "\(hint): \(object.objectID) should be gone")
                    #expect(expected.entity == entity.number, "\(hint)")
                    for attribute in entity.attributes {
                        let value = object.value(forKey: attribute.name).map { "\($0)" }
                        #expect(value == expected.values[attribute.number], "\(hint): \(entity.name).\(attribute.name)")
                    }
                    if let link = entity.link {
                        let members = object.members(link.name).map { key($0, entity.number) }
                        #expect(Set(members) == expected.linked, "\(hint)")
                    }
                }
                guard let attribute = entity.attributes.first else { continue }
                let found = try context.all(entity.name, "\(attribute.name) == nil").count
                let expected = objects.values.count { $0.entity == entity.number && $0.values[attribute.number] == nil }
                #expect(found == expected, "\(hint): nulls of \(entity.name).\(attribute.name)")
            }
            #expect(seen == objects.count, "\(hint)")
        }
    }

    @Test(arguments: 1...UInt64(8))
    func everyModelOfAChainShowsWhatWasSaved(seed: UInt64) throws {
        let chain = try Chain(seed: seed)
        for step in 0..<8 {
            let hint = "seed \(seed), step \(step)"
            try chain.store.with(chain.model()) { context throws in
                try chain.check(context, hint)
                try chain.work(context)
                context.reset()
                try chain.check(context, "\(hint), after work")
                if step % 3 == 2, let coordinator = context.persistentStoreCoordinator {
                    try coordinator.compact(coordinator.persistentStores[0])
                }
            }
            chain.changeModel()
        }
    }
}
