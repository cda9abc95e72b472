import Foundation
import StrataLog

// Fetching in a child context: the parent finds what it has, saved or not, and the child lays its own changes over it.
extension FetchExecutor {
    /// What a parent tells its child of a match.
    private struct ParentMatch {
        var ref: SharedRef
        var keys: SortKeys?
    }

    /// The parent's matches without those that this context has changed.
    ///
    /// - Parameter needed: how many do, together with what this context adds.
    func matchesOfParent(_ changed: [NSManagedObject], needed: Int) throws -> [Match] {
        guard let link = context.link else { return [] }
        context.adoptPermanentIDs()
        let plan = plan.forParent(limit: changed.isEmpty ? needed : Int.max)
        let found = try context.withParent(link) { parent in
            parent.processPendingChanges()
            return try FetchExecutor(parent, plan).matchesForChild()
        }
        let changedIDs = Set(changed.map(\.objectID))
        return found.compactMap { match in
            if let handle = match.ref.handle {
                let storeIndex = context.registry.storeIndex(of: handle)
                if !changed.isEmpty, let object = context.registry.object(match.ref.ref, storeIndex),
                    changedIDs.contains(object.objectID)
                {
                    return nil
                }
                return Match(ref: match.ref.ref, storeIndex: storeIndex, keys: match.keys)
            }
            guard let object = context.object(match.ref), !changedIDs.contains(object.objectID) else { return nil }
            return Match(ref: object.ref, storeIndex: object.storeIndex, object: object, keys: match.keys)
        }
    }

    private func matchesForChild() throws -> [ParentMatch] {
        try matches(stopAtWindow: true).compactMap { match in
            if let object = match.object { return ParentMatch(ref: context.refForChild(object), keys: match.keys) }
            guard let handle = context.registry.handle(match.storeIndex), let shape = handle.map.shape(match.ref.entity)
            else { return nil }
            return ParentMatch(ref: SharedRef(match.ref, handle, shape), keys: match.keys)
        }
    }

    /// Dictionaries made of what this context's objects hold, since no stored row need have it.
    func dictionariesOfObjects() throws -> [NSDictionary] {
        var seen: Set<NSDictionary> = []
        var results: [NSDictionary] = []
        for object in makeObjects(sorted(try matches(stopAtWindow: !plan.isDistinct))) {
            let values = NSMutableDictionary()
            for name in plan.properties {
                guard let value = object.value(forKey: name) else { continue }
                values[name] = (value as? NSManagedObject)?.objectID ?? value
            }
            if let error = context.readErrors[object.objectID] { throw error }
            if !plan.isDistinct || seen.insert(values).inserted { results.append(values) }
        }
        return Array(results.dropFirst(plan.offset).prefix(plan.limit))
    }
}
