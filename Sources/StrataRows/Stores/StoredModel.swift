import Foundation
import StrataLog

/// What a store knows of the model it was written with: the numbers that entities and postings have in it for its whole
/// life, and which property lies in which slot. Kept as JSON in the engine's schema.
package struct StoredModel: Codable, Equatable {
    package struct Entity: Codable, Equatable {
        package var name: String
        package var number: UInt16
        package var root: UInt16
        /// The properties by slot.
        package var slots: [String]
        /// Nil for hidden entities that keep links.
        package var versionHash: Data?

        package init(name: String, number: UInt16, root: UInt16, slots: [String], versionHash: Data? = nil) {
            self.name = name
            self.number = number
            self.root = root
            self.slots = slots
            self.versionHash = versionHash
        }
    }

    package var format = 1
    package var entities: [Entity] = []
    /// "Entity.relationship" to number.
    package var postings: [String: UInt16] = [:]
    package var versionIdentifiers: [String] = []
    /// The model itself, so that programs without it can read the store; nil for one that has no encoding.
    package var model: Data?
    /// The highest number that was ever given to an entity, and to postings: none is used twice. Nil if they are among
    /// those above.
    package var lastNumber: UInt16?
    package var lastPostings: UInt16?
    /// The last transaction before the store came to this model; nil if it was made with it.
    package var since: UInt64?

    /// How ``Entity/versionHash`` was computed: ``hashesWithConstraints``, or nil for before constraints were part of
    /// it.
    package var hashForm: Int?

    static let maximumFormat = 1
    package static let hashesWithConstraints = 2
    package static func linkName(_ link: LinkShape) -> String { "link \(link.name)" }
    package static func linkPostingsName(_ link: LinkShape, _ side: Int) -> String { "link \(link.name) \(side)" }

    /// The stored form of a model; numbers that `previous` gave out stay as they are.
    ///
    /// - Throws: `CocoaError` when numbers run out.
    package init(_ shapes: ModelShapes, holding held: Set<String>, previous: StoredModel?) throws {
        var numbers = Dictionary(
            previous?.entities.map { ($0.name, $0.number) } ?? [], uniquingKeysWith: { first, _ in first })
        var nextNumber = UInt32(numbers.values.max() ?? 0) + 1
        postings = previous?.postings ?? [:]
        var nextPostings = UInt32(postings.values.max() ?? 0) + 1
        func number(_ name: String) throws -> UInt16 {
            if let known = numbers[name] { return known }
            guard let new = UInt16(exactly: nextNumber) else { throw Self.exhausted }
            nextNumber += 1
            numbers[name] = new
            return new
        }
        func givePostings(_ name: String) throws {
            guard postings[name] == nil else { return }
            guard let new = UInt16(exactly: nextPostings) else { throw Self.exhausted }
            nextPostings += 1
            postings[name] = new
        }
        let shapesHeld = shapes.shapes.filter { held.contains($0.name) }.sorted { $0.name < $1.name }
        for shape in shapesHeld {
            entities.append(
                Entity(
                    name: shape.name, number: try number(shape.name), root: try number(shape.root.name),
                    slots: shape.slots.prefix(shape.persistentSlotCount).map(\.name),
                    versionHash: shape.entity.versionHash))
            for relationship in shape.relationships where relationship.keepsPostings {
                try givePostings(relationship.storedName)
            }
        }
        let linksHeld = shapes.links.filter { link in
            shapesHeld.contains { shape in
                shape.relationships.contains { relationship in
                    if case .link(let other, _) = relationship.storage { return other === link }
                    return false
                }
            }
        }
        for link in linksHeld.sorted(by: { $0.name < $1.name }) {
            let name = Self.linkName(link)
            let number = try number(name)
            entities.append(
                Entity(name: name, number: number, root: number, slots: ["0", "1", "position 0", "position 1"]))
            try givePostings(Self.linkPostingsName(link, 0))
            try givePostings(Self.linkPostingsName(link, 1))
        }
        versionIdentifiers = Self.identifiers(shapes)
        hashForm = Self.hashesWithConstraints
    }

    /// Of no entities, to be filled.
    package init() {}

    package static func identifiers(_ shapes: ModelShapes) -> [String] {
        shapes.model.versionIdentifiers.map { "\($0.base)" }.sorted()
    }

    /// What a migration makes of another one.
    package init(
        entities: [Entity], postings: [String: UInt16], lastNumber: UInt16, lastPostings: UInt16, since: UInt64
    ) {
        self.entities = entities
        self.postings = postings
        self.lastNumber = lastNumber
        self.lastPostings = lastPostings
        self.since = since
        hashForm = Self.hashesWithConstraints
    }

    package static var exhausted: any Error {
        DescribedError(
            .persistentStoreOpen, userInfo: [NSLocalizedDescriptionKey: "The store has no entity numbers left."])
    }

    /// - Throws: a decoding error for anything that is no stored model, or one of a later version.
    package init(bytes: [UInt8]) throws {
        self = try StoredModelReader.model(bytes) ?? JSONDecoder().decode(StoredModel.self, from: Data(bytes))
        guard format <= Self.maximumFormat else { throw DescribedError(.coderReadCorrupt) }
    }

    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(self))
    }

    /// As today's models have them.
    package var versionHashes: [String: Data] {
        let hashes = Dictionary(
            entities.compactMap { entity in entity.versionHash.map { (entity.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        guard hashForm == nil, let known = (try? decodedModel)?.entitiesByName else { return hashes }
        return Dictionary(
            uniqueKeysWithValues: hashes.map { name, hash in
                let isKnown = known[name]?.computeVersionHash(withConstraints: false) == hash
                return (name, isKnown ? known[name]?.versionHash ?? hash : hash)
            })
    }

    /// Whether the hashes are those of a model's entities, but that constraints are not part of them.
    package func hasHashesWithoutConstraints(of shapes: ModelShapes) -> Bool {
        guard hashForm == nil else { return false }
        return entities.allSatisfy { entity in
            guard let hash = entity.versionHash else { return true }
            return shapes.byName[entity.name]?.entity.computeVersionHash(withConstraints: false) == hash
        }
    }

    /// The model, with the entities that the store holds; nil if it has no encoding.
    ///
    /// - Throws: `ModelError` when what is stored is damaged.
    package var decodedModel: NSManagedObjectModel? {
        get throws {
            guard let model else { return nil }
            let decoded = try NSManagedObjectModel(encoded: Array(model))
            let others = decoded.entities.filter { entity($0.name ?? "") == nil }
            if !others.isEmpty { decoded.entities.removeAll { entity in others.contains { $0 === entity } } }
            return decoded
        }
    }

    package func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// The engine's schema for the model.
    package func schema(_ shapes: ModelShapes) throws -> Schema {
        var layouts: [EntityLayout] = []
        for entity in entities {
            var slots: [SlotLayout] = []
            if let shape = shapes.byName[entity.name] {
                for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() {
                    let relationship = info.relationshipIndex < 0 ? nil : shape.relationships[info.relationshipIndex]
                    slots.append(
                        SlotLayout(
                            info.kind.valueKind,
                            postingsID: relationship.map { $0.keepsPostings ? postings[$0.storedName] ?? 0 : 0 } ?? 0,
                            preservedInHistory: shape.isPreservedInHistory(slot: slot)))
                }
            } else {
                let name = String(entity.name.dropFirst("link ".count))
                for side in 0...1 {
                    // The history goes on naming the ends of a link when compaction has removed its row.
                    slots.append(
                        SlotLayout(
                            .reference, postingsID: postings["link \(name) \(side)"] ?? 0, preservedInHistory: true))
                }
                slots += [SlotLayout(.int64), SlotLayout(.int64)]
            }
            layouts.append(EntityLayout(id: entity.number, rootID: entity.root, name: entity.name, slots: slots))
        }
        var complete = self
        complete.model = (try? shapes.model.encoded()).map { Data($0) }
        return Schema(entities: layouts, model: try complete.encoded())
    }
}

extension RelationshipShape {
    /// Whether the to-one's column is kept as postings too, for the to-many at the other end.
    package var keepsPostings: Bool { !isToMany && inverse?.isToMany == true }

    /// The name that stored numbers go by.
    package var storedName: String { "\(declaringName).\(name)" }
}
