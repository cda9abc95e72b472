import Foundation
import StrataSupport

extension NSManagedObjectModel {
    /// Combines models into a new one, which can be changed. Entities of the same name must be the same; relationships
    /// lead to the combined entities.
    ///
    /// - Parameter models: nil gives nil.
    /// - Precondition: no two models have different entities, configurations or templates of one name.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models else { return nil }
        self.init()
        for model in models {
            merge(model)
        }
    }

    /// The model that a store was written with, found among several models.
    ///
    /// A model all of whose entities the store has, in the same versions, is taken as a whole: the result is equal to
    /// it, whatever the hashes do not count. A store of several models is that of all of them, combined. Only entities
    /// that are left then are taken one by one, as of a store that was written with a configuration.
    ///
    /// - Parameters:
    ///   - models: the models to look in. Of models with the same hashes the first one counts.
    ///   - metadata: the store's metadata, with the hashes under `NSStoreModelVersionHashesKey`.
    /// - Returns: nil if an entity of the store is in none of the models in that version.
    /// - Complexity: O(n) in the size of the models.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let search = StoredVersionSearch(metadata),
            let match = try? search.match(models.map { VersionCandidate($0) })
        else { return nil }
        self.init(match)
    }

    /// What a search has found.
    convenience init(_ match: StoredVersionSearch.Match) {
        self.init()
        for model in match.wholes { merge(model) }
        guard !match.parts.isEmpty else { return }
        _ = adopt(copiesOf: match.parts)
        for part in match.parts { versionIdentifiers.formUnion(part.owningModel?.versionIdentifiers ?? []) }
    }

    /// Makes this empty model what another is; the other is empty afterwards.
    package final func takeOver(_ other: NSManagedObjectModel) {
        let moved = other.entities
        let members = other.configurationMembers
        other.entities = []
        entities = moved
        for (name, entities) in members {
            setEntities(entities, forConfigurationName: name)
        }
        localizationDictionary = other.localizationDictionary
        versionIdentifiers = other.versionIdentifiers
        templates = other.templates
    }

    /// Makes this empty model a copy of another.
    final func copyState(from other: NSManagedObjectModel) {
        let copies = adopt(copiesOf: other.entities)
        for (name, members) in other.configurationMembers {
            setEntities(members.compactMap { copies[ObjectIdentifier($0)] }, forConfigurationName: name)
        }
        localizationDictionary = other.localizationDictionary
        versionIdentifiers = other.versionIdentifiers
        templates = other.templates
    }

    private func merge(_ other: NSManagedObjectModel) {
        let copies = adopt(copiesOf: other.entities)
        for (name, members) in other.configurationMembers {
            var merged = configurationMembers[name] ?? []
            for case let copy? in members.map({ copies[ObjectIdentifier($0)] })
            where !merged.contains(where: { $0 === copy }) {
                merged.append(copy)
            }
            setEntities(merged, forConfigurationName: name)
        }
        if let dictionary = other.localizationDictionary {
            localizationDictionary = (localizationDictionary ?? [:]).merging(dictionary) { first, _ in first }
        }
        versionIdentifiers.formUnion(other.versionIdentifiers)
        templates.merge(other.templates) { first, _ in first }
    }

    /// Adds copies of entities, linked among each other and to the entities of the same names that are there already,
    /// whichever models they come from.
    ///
    /// - Returns: for each given entity what stands for it here.
    private func adopt(copiesOf originals: [NSEntityDescription]) -> [ObjectIdentifier: NSEntityDescription] {
        let present = entitiesByName
        var copies = Copies(byName: present)
        var added: [(original: NSEntityDescription, copy: NSEntityDescription)] = []
        for original in originals {
            if let name = original.name, let existing = present[name] {
                guard existing == original else {
                    programmerError(
                        "NSManagedObjectModel", "Can't merge models with two different entities named '\(name)'",
                        "Merge models that agree on the entities they share")
                }
                copies.add(existing, for: original)
            } else if let copy = original.copy() as? NSEntityDescription {
                copies.add(copy, for: original)
                added.append((original, copy))
            }
        }
        for (original, copy) in added {
            if copy.superentity == nil, let parent = original.superentity.flatMap({ copies.copy(of: $0) }) {
                parent.subentities.append(copy)
            }
            Self.link(copy, like: original, copies: copies)
        }
        for (_, copy) in added {
            Self.resolveIndexes(of: copy)
        }
        entities += added.map(\.copy)
        return copies.byOriginal
    }

    private static func link(
        _ copy: NSEntityDescription, like original: NSEntityDescription,
        copies: Copies
    ) {
        let pairs = zip(original.ownProperties, copy.ownProperties)
        for case let (old as NSRelationshipDescription, new as NSRelationshipDescription) in pairs {
            new.destinationEntity = old.destinationEntity.map { copies.copy(of: $0) ?? $0 }
            guard let inverse = old.inverseRelationship, let owner = inverse.owningEntity,
                let newOwner = copies.copy(of: owner)
            else { continue }
            new.inverseRelationship =
                newOwner.ownPropertiesByName[inverse.name] as? NSRelationshipDescription
        }
    }

    /// Leads elements that index an inherited property to the copy of it.
    private static func resolveIndexes(of copy: NSEntityDescription) {
        guard !copy.indexes.isEmpty else { return }
        let properties = copy.propertiesByName
        for element in copy.indexes.flatMap(\.elements) {
            element.resolve { properties[$0] }
        }
    }
}

/// What stands for which entity after copying. Entities of other models are found by name.
private struct Copies {
    private(set) var byOriginal: [ObjectIdentifier: NSEntityDescription] = [:]
    private var byName: [String: NSEntityDescription]

    init(byName: [String: NSEntityDescription]) {
        self.byName = byName
    }

    mutating func add(_ copy: NSEntityDescription, for original: NSEntityDescription) {
        byOriginal[ObjectIdentifier(original)] = copy
        if let name = original.name { byName[name] = copy }
    }

    func copy(of original: NSEntityDescription) -> NSEntityDescription? {
        byOriginal[ObjectIdentifier(original)] ?? byName[original.name ?? ""]
    }
}
