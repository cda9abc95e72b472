import Foundation

/// Finds the model that a store was written with among versions of models, by the hashes in the store's metadata.
struct StoredVersionSearch {
    /// What a store's model is made of.
    struct Match {
        /// Models that are taken as they are. No two have an entity of the same name.
        var wholes: [NSManagedObjectModel] = []
        /// Entities of models that have other ones, too, which the store does not know in that version.
        var parts: [NSEntityDescription] = []
    }

    private let stored: [String: Data]

    /// - Returns: nil for metadata without hashes.
    init?(_ metadata: [String: Any]) {
        guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
        self.stored = stored
    }

    /// - Throws: ``VersionCandidate/NotFound`` if an entity of the store is in none of the candidates in that version,
    ///   or a candidate is not what it was listed as.
    func match(_ candidates: [VersionCandidate]) throws(VersionCandidate.NotFound) -> Match {
        var left = stored
        var match = Match()
        let wholes = candidates.filter { candidate in
            !candidate.hashes.isEmpty && candidate.hashes.allSatisfy { stored[$0.key] == $0.value }
        }
        // The greatest first: an earlier version may be a part of a later one. Sorting keeps the order of equals.
        for candidate in wholes.sorted(by: { $0.hashes.count > $1.hashes.count })
        where candidate.hashes.keys.allSatisfy({ left[$0] != nil }) {
            match.wholes.append(try candidate.model())
            for name in candidate.hashes.keys { left[name] = nil }
        }
        while !left.isEmpty {
            for name in try takeParts(of: left, from: candidates, into: &match) { left[name] = nil }
        }
        return match
    }

    /// Takes the entities that are left from whoever has the most of them, so that they fit each other.
    ///
    /// - Returns: their names, at least one.
    private func takeParts(
        of left: [String: Data], from candidates: [VersionCandidate], into match: inout Match
    ) throws(VersionCandidate.NotFound) -> [String] {
        var best: (names: [String], candidate: VersionCandidate)?
        for candidate in candidates {
            let names = left.filter { candidate.hashes[$0.key] == $0.value }.keys.sorted()
            if names.count > best?.names.count ?? 0 { best = (names, candidate) }
        }
        guard let best else { throw VersionCandidate.NotFound() }
        let entities = try best.candidate.model().entitiesByName
        match.parts += best.names.compactMap { entities[$0] }
        return best.names
    }
}
