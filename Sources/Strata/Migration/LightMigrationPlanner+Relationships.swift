import Foundation

// Relationships stay where they are kept, or the rows have to be written anew.
extension LightMigrationPlanner {
    /// A relationship of a held shape, and what it was.
    private struct Pair {
        let shape: EntityShape
        let relationship: RelationshipShape
        let entity: NSEntityDescription
        let old: StoredRelationship
        /// Whether there are objects that may have it.
        let isUsed: Bool
    }

    private var pairs: [Pair] {
        held.flatMap { shape -> [Pair] in
            guard let entity = source(shape) else { return [] }
            let old = match.relationships(of: shape.entity)
            return shape.relationships.compactMap { relationship in
                old[relationship.name].map { description in
                    Pair(
                        shape: shape, relationship: relationship, entity: entity,
                        old: StoredRelationship(description, of: entity), isUsed: count(entity) > 0)
                }
            }
        }
    }

    private func name(_ pair: Pair) -> String { "\(pair.shape.name).\(pair.relationship.name)" }

    /// What entities that are gone leave behind must not be reached any more.
    mutating func checkRemovedEntities() {
        func survives(_ entity: NSEntityDescription) -> Bool {
            match.destination(of: entity).map { new in held.contains { $0.name == new.name } } == true
        }
        let removed = match.source.entities.filter { !survives($0) && count($0) > 0 }
        guard !removed.isEmpty else { return }
        func root(_ entity: NSEntityDescription) -> UInt16? { old.entity(entity.name ?? "")?.root }
        let pairs = pairs
        for entity in removed.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            if match.source.entities.contains(where: { survives($0) && root($0) == root(entity) }) {
                obstacles.append("objects of \(entity.name ?? "") go, and others of its hierarchy stay")
            }
            for pair in pairs {
                var ancestor: NSEntityDescription? = entity
                while let parent = ancestor, parent !== pair.old.description.destinationEntity {
                    ancestor = parent.superentity
                }
                if ancestor != nil { obstacles.append("\(name(pair)) may lead to objects of \(entity.name ?? "")") }
            }
        }
    }

    mutating func planPostings() throws {
        let pairs = pairs
        var owners: [UInt16: String] = [:]
        for shape in held {
            for relationship in shape.relationships where relationship.keepsPostings {
                let name = relationship.storedName
                if postings[name] != nil { continue }
                let same = pairs.filter { $0.relationship.storedName == name }
                var found: Set<UInt16> = []
                for pair in same {
                    if case .slot(let stored?) = pair.old.storage, let number = old.postings[stored] {
                        found.insert(number)
                    } else if pair.isUsed {
                        obstacles.append("\(self.name(pair)) has an inverse that is to-many now")
                    }
                }
                if found.count > 1 { obstacles.append("\(name) unites several relationships") }
                guard let number = found.min() else {
                    postings[name] = try newPostings()
                    continue
                }
                postings[name] = number
                if let other = owners.updateValue(name, forKey: number) {
                    obstacles.append("\(other) and \(name) were one relationship")
                }
            }
        }
        checkReferrers(owners, pairs)
    }

    /// All referrers that postings list must have the relationship that the postings are of.
    private mutating func checkReferrers(_ owners: [UInt16: String], _ pairs: [Pair]) {
        for entity in match.source.entities where count(entity) > 0 {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                guard case .slot(let stored?) = StoredRelationship(relationship, of: entity).storage,
                    let owner = old.postings[stored].flatMap({ owners[$0] })
                else { continue }
                let survives = pairs.contains {
                    $0.entity === entity && $0.old.description.name == relationship.name
                        && $0.relationship.storedName == owner
                }
                if !survives { obstacles.append("\(entity.name ?? "") does not have \(owner) any more") }
            }
        }
    }

    mutating func planLinks() throws {
        let pairs = pairs
        var owners: [String: String] = [:]
        for link in heldLinks {
            var found: Set<LinkSource> = []
            for pair in pairs {
                guard case .link(let own, let side) = pair.relationship.storage, own === link else { continue }
                if case .link(let name, let before) = pair.old.storage,
                    pair.old.isSymmetric == pair.relationship.isSymmetric
                {
                    found.insert(LinkSource(name: name, isFlipped: before != side))
                } else if pair.isUsed {
                    obstacles.append("\(name(pair)) is kept in another way")
                }
            }
            if found.count > 1 { obstacles.append("\(link.name) unites several relationships") }
            let source = found.min { $0.name < $1.name }
            setLink(link, source)
            for side in 0...1 {
                let before = source.flatMap { old.postings["link \($0.name) \($0.isFlipped ? 1 - side : side)"] }
                postings[StoredModel.linkPostingsName(link, side)] = try before ?? newPostings()
            }
            if let source, let other = owners.updateValue(link.name, forKey: source.name) {
                obstacles.append("\(other) and \(link.name) were one relationship")
            }
        }
        for entity in match.source.entities where count(entity) > 0 {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                guard case .link(let name, _) = StoredRelationship(relationship, of: entity).storage,
                    let owner = owners[name]
                else { continue }
                let survives = pairs.contains { pair in
                    guard case .link(let link, _) = pair.relationship.storage else { return false }
                    return pair.entity === entity && pair.old.description.name == relationship.name
                        && link.name == owner
                }
                // One side alone may go: the links are still those of the other.
                let isOther = pairs.contains { $0.entity !== entity && isLink($0, owner) }
                if !survives, !isOther { obstacles.append("\(entity.name ?? "") does not have \(owner) any more") }
            }
        }
    }

    private func isLink(_ pair: Pair, _ name: String) -> Bool {
        if case .link(let link, _) = pair.relationship.storage { return link.name == name }
        return false
    }

    /// The other end of a relationship is the same fact, or has to be written.
    mutating func checkInverses() {
        for pair in pairs where pair.isUsed {
            let relationship = pair.relationship
            if relationship.isToMany != pair.old.description.isToMany {
                obstacles.append("\(name(pair)) is to-many now")
                continue
            }
            guard let inverse = relationship.inverse, !inverse.isToMany else { continue }
            let before = match.relationships(of: relationship.destination.entity)[inverse.name]
            guard let before, before.name == pair.old.description.inverseRelationship?.name else {
                obstacles.append("\(name(pair)) has another inverse")
                continue
            }
        }
    }
}
