import ArgumentParser
import Foundation
import Strata

/// What shells complete names of a store's model by. The store is the first of the words that is one.
enum NameCompletion {
    /// Names of entities.
    static let entities = CompletionKind.custom { words, _, _ in
        model(words)?.entities.compactMap(\.name).sorted() ?? []
    }

    /// Names of properties of the entity that is among the words; of all entities if none is. After a comma goes on
    /// what there is before it.
    static let properties = CompletionKind.custom { words, _, prefix in
        guard let model = model(words) else { return [] }
        let named = words.compactMap { model.entitiesByName[$0] }.first
        let names = Set((named.map { [$0] } ?? model.entities).flatMap { $0.properties.map(\.name) }).sorted()
        guard let comma = prefix.lastIndex(of: ",") else { return names }
        return names.map { prefix[...comma] + $0 }
    }

    private static func model(_ words: [String]) -> NSManagedObjectModel? {
        words.lazy.dropFirst().filter { !$0.hasPrefix("-") }.compactMap { word in
            let path = (word as NSString).expandingTildeInPath
            guard FileManager.default.fileExists(atPath: path + "/MANIFEST") else { return nil }
            return try? NSManagedObjectModel(storedAt: URL(fileURLWithPath: path).resolvingSymlinksInPath())
        }.first
    }
}
