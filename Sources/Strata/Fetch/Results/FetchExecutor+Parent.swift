import Foundation
import StrataLog

// Fetching in a child context: the parent finds what it has, saved or not, and the child lays its own changes over it.
extension FetchExecutor {
    /// What a parent tells its child of a match.
    private struct ParentMatch {
        var ref: SharedRef
        var keys: SortKeys?
    }

    /// What the parent finds, saved or not. Dictionaries are made of what is stored, as those of the parent itself.
    func searchParent(_ link: ParentLink, maximum: Int) throws -> StoredMatches {
        if plan.dictionaries != nil { return try dictionariesOfParent(link, maximum: maximum) }
        context.adoptPermanentIDs()
        let question = FetchPlan(asking: plan, limit: maximum)
        let found = try context.withParent(link) { parent in
            parent.processChangesBeforeReading()
            return try parent.undisturbed { try FetchExecutor(parent, question, turn: turn).matchesForChild() }
        }
        var result = StoredMatches()
        for match in found {
            if let handle = match.ref.handle {
                let storeIndex = context.registry.storeIndex(of: handle)
                result.matches.append(FetchMatch(ref: match.ref.ref, storeIndex: storeIndex, keys: match.keys))
            } else if let object = context.object(match.ref) {
                result.matches.append(
                    FetchMatch(ref: object.ref, storeIndex: object.storeIndex, object: object, keys: match.keys))
            }
        }
        return result
    }

    private func dictionariesOfParent(_ link: ParentLink, maximum: Int) throws -> StoredMatches {
        try context.withParent(link) { parent in
            let executor = FetchExecutor(parent, plan, turn: turn)
            return try executor.working { try executor.search(executor.stores(), maximum: maximum) }
        }
    }

    /// How many dictionaries there would be, which whoever is asked makes of what is stored.
    func countDictionaries(_ link: ParentLink) throws -> Int {
        try context.withParent(link) { try FetchExecutor($0, plan, turn: turn).count() }
    }

    private func matchesForChild() throws -> [ParentMatch] {
        try orderedMatches(withKeys: true).compactMap { match in
            if let object = match.object { return ParentMatch(ref: context.refForChild(object), keys: match.keys) }
            guard let handle = context.registry.handle(match.storeIndex), let shape = handle.map.shape(match.ref.entity)
            else { return nil }
            return ParentMatch(ref: SharedRef(match.ref, handle, shape), keys: match.keys)
        }
    }
}
