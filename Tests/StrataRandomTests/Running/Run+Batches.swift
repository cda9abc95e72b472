import CoreData

// Batch requests, and saves that meet others.
extension Run {
    func update(_ entity: String, _ condition: Condition?, _ name: String, _ value: Value) throws {
        let request = NSBatchUpdateRequest(entityName: entity)
        request.predicate = condition.map { predicate($0, context) }
        let kind = model.number(entity).flatMap { model.attribute(name, of: $0) }?.kind ?? .string
        request.propertiesToUpdate = [name: value.object(kind) ?? NSNull()]
        request.resultType = .updatedObjectsCountResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        context.refreshAllObjects()
        mirror = nil
        try checkReferences()
        _ = result
    }

    func erase(_ entity: String, _ condition: Condition?) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.predicate = condition.map { predicate($0, context) }
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        held = [:]
        mirror = nil
        context.refreshAllObjects()
        try checkReferences()
    }

    func diverge(_ divergence: Divergence, _ outcome: Oracle.Outcome) throws {
        let (mine, theirs) = (context, contexts[1 - current])
        mirror = nil
        mine.refreshAllObjects()
        let read = divergence.mine.flatMap(\.keys).map(object)
        for object in read { _ = object.value(forKey: RandomModel.key.name) }
        try theirs.performAndWait {
            theirs.refreshAllObjects()
            for edit in divergence.theirs {
                self.edit(edit) { key in
                    guard let id = ids[key] else { preconditionFailure("object \(key) has no ID") }
                    return theirs.object(with: id)
                }
            }
            try theirs.save()
        }
        for edit in divergence.mine { self.edit(edit, object) }
        mine.mergePolicy = divergence.policy.policy
        var (isRefused, refusal) = (false, "")
        do { try withExtendedLifetime(read) { try mine.save() } } catch {
            isRefused = true
            refusal = "\(error)"
            mine.rollback()
        }
        mine.mergePolicy = NSErrorMergePolicy
        let isExpected = if case .conflict = outcome { true } else { false }
        guard isRefused == isExpected else {
            throw Difference(isRefused ? "the save met a conflict: \(refusal)" : "a conflict was not noticed")
        }
        for context in [mine, theirs] {
            context.performAndWait {
                context.refreshAllObjects()
                context.undoManager?.removeAllActions()
            }
        }
        held = held.filter { oracle.view.things[$0.key] != nil }
        try checkReferences()
        try compareView()
    }
}

extension Divergence.Policy {
    fileprivate var policy: NSMergePolicy {
        switch self {
        case .error: .error
        case .rollback: .rollback
        case .overwrite: .overwrite
        case .object: .mergeByPropertyObjectTrump
        case .store: .mergeByPropertyStoreTrump
        case .threeWays: ThreeWayMergePolicy()
        }
    }
}
