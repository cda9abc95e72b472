import CoreData
import Foundation
import StrataTestKit
import Testing

extension WholeSession {
    /// Objects that were inserted have other IDs now.
    func renewIDs() throws {
        try inside {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) {
                guard let key = object.value(forKey: "key") as? Int else { continue }
                ids[key] = object.objectID
            }
        }
    }

    func save() throws {
        note("save")
        try inside { try context.save() }
        if child == nil { saved = world } else { parentWorld = world }
        try renewIDs()
        if recordsUndo, let count = undoManager?.undoCount, count != position {
            fail("\(count) undo groups instead of \(position) after saving")
        }
        inside {
            if context.hasChanges { fail("changes after saving") }
            compareCounts()
        }
        if random.chance(0.3) { try compareStore() }
    }

    /// After a save the derived attributes are what they are derived from.
    func compareCounts() {
        guard !context.hasChanges, child == nil else { return }
        for key in world.keys("Team") {
            let count = object(key).value(forKey: "memberCount") as? Int
            if count != world.targets(key, "members").count {
                fail("\(key).memberCount is \(count ?? -1), not \(world.targets(key, "members").count)")
            }
        }
    }

    /// What a new context finds is what was saved.
    func compareStore() throws {
        let fresh = store.shortLivedContext()
        try fresh.performAndWait { compare(try read(fresh), saved, "store") }
    }

    /// Something that validation refuses: the save changes nothing.
    func failToSave() throws {
        guard let key = pick("Person"), let name = (inside { object(key).value(forKey: "name") as? String }) else {
            return
        }
        edit { setAttribute(key, "name", random.chance(0.5) ? nil : "") }
        if child == nil, random.chance(0.3) { edit { insert() } }
        note("failing save")
        inside {
            do {
                try context.save()
                fail("an invalid name was saved")
            } catch {
                if !context.hasChanges { fail("a failed save took the changes") }
            }
        }
        try compare()
        if child == nil { try compareStore() }
        guard problem == nil else { return }
        edit { setAttribute(key, "name", name) }
        // Undoing would bring back what cannot be saved.
        if recordsUndo { forgetUndo() }
        if child == nil, let team = world.keys("Team").first(where: world.isDenied), saved.things[team] != nil,
            !world.isDenied(key)
        {
            try failToDelete(team)
        }
    }

    private func failToDelete(_ team: Int) throws {
        try save()
        note("denied deletion of \(team)")
        inside {
            context.delete(object(team))
            do {
                try context.save()
                fail("a denied deletion was saved")
            } catch {
                context.rollback()
            }
        }
        world = saved
        held[place] = [:]
        if current == 0 { forgetUndo() }
        try compare()
        try compareStore()
    }

    func refresh() {
        inside {
            switch random.below(4) {
            case 0:
                note("refresh all")
                context.refreshAllObjects()
            case 1:
                guard let key = pick() else { return }
                note("refresh \(key), keep")
                context.refresh(object(key), mergeChanges: true)
            case 2:
                guard !context.hasChanges, let key = pick() else { return }
                note("refresh \(key)")
                context.refresh(object(key), mergeChanges: false)
            default:
                note("drop references")
                held[place] = held[place].filter { $0.value.objectID.isTemporaryID || $0.value.hasChanges }
            }
        }
    }

    func throwAway(resets: Bool) {
        note(resets ? "reset" : "rollback")
        inside {
            if resets { context.reset() } else { context.rollback() }
        }
        world = child == nil ? saved : parentWorld
        held[place] = held[place].filter { !resets && world.things[$0.key] != nil }
        guard child == nil, current == 0 else { return }
        forgetUndo()
        if resets { inside { try? results?.performFetch() } }
    }

    // MARK: Children

    func beginChild() throws {
        guard current == 0 else { return }
        note("begin child")
        try compare()
        let new = NSManagedObjectContext(.privateQueue)
        new.parent = contexts[0]
        parentWorld = world
        held[2] = [:]
        child = new
    }

    func endChild() throws {
        note("end child")
        if random.chance(0.7) { try save() }
        world = parentWorld
        child = nil
        held[2] = [:]
        inside { context.processPendingChanges() }
        try renewIDs()
        // However many saves the child made, and into how many groups they went.
        if undoManager != nil { forgetUndo() }
        try compare()
    }

    // MARK: Two contexts

    /// Brings the other context up to date with what was saved here.
    func bringUpToDate(_ index: Int) throws {
        let context = contexts[index]
        let way = mergesAutomatically ? -1 : random.below(3)
        note("bring \(index) up to date, way \(way)")
        context.performAndWait {
            switch way {
            case -1: return
            case 0: for note in notifications[1 - index].all { context.mergeChanges(fromContextDidSave: note) }
            case 1: context.refreshAllObjects()
            default:
                context.reset()
                held[index] = [:]
            }
        }
        notifications[1 - index] = SaveNotifications(contexts[1 - index])
        held[index] = held[index].filter { saved.things[$0.key] != nil }
        if index == 0 {
            forgetUndo()
            // A controller is not told of changed objects that were not in memory, nor by refreshing of new ones.
            try context.performAndWait { try results?.performFetch() }
        }
    }

    func handOver() throws {
        try save()
        current = 1 - current
        try bringUpToDate(current)
        if current == 0 { forgetUndo() }
        try compare()
    }

    func reopen() throws {
        try save()
        note("reopen")
        let uris = ids.filter { saved.things[$0.key] != nil }.mapValues { $0.uriRepresentation() }
        results = nil
        pinned = nil
        held = [[:], [:], [:]]
        try store.reopen()
        ids = try uris.mapValues { try #require(store.coordinator.managedObjectID(forURIRepresentation: $0)) }
        try makeContexts()
        try compare()
    }

    /// A context that keeps seeing what was stored at one moment.
    func pin() throws {
        if let (context, world) = pinned {
            note("compare pinned")
            pinned = nil
            return try context.performAndWait { compare(try read(context), world, "pinned context") }
        }
        note("pin")
        let context = store.shortLivedContext()
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        // The token is the newest generation when the context first reads.
        try context.performAndWait { compare(try read(context), saved, "pinned context") }
        pinned = (context, saved)
    }

    // MARK: Batch requests

    func batch() throws {
        try save()
        try inside {
            switch random.below(4) {
            case 0: try batchInsert()
            case 1: try batchDelete()
            default: try batchUpdate()
            }
        }
        saved = world
        for (index, context) in contexts.enumerated() {
            context.performAndWait { context.refreshAllObjects() }
            held[index] = held[index].filter { saved.things[$0.key] != nil }
            notifications[index] = SaveNotifications(context)
        }
        try inside { try results?.performFetch() }
        if undoManager != nil { forgetUndo() }
        try renewIDs()
        try compare()
        try compareStore()
        inside { compareCounts() }
    }

    private func batchInsert() throws {
        let team = pick("Team")
        let rows = (0..<random.below(3)).map { offset in
            var row: [String: Any] = ["key": nextKey + offset, "rank": offset * 30, "name": "batch"]
            if let team { row["team"] = ids[team] }
            return row
        }
        note("batch insert \(nextKey)..., \(rows.count) in team \(team ?? 0)")
        let request = NSBatchInsertRequest(entityName: "Person", objects: rows)
        try context.execute(request)
        for row in rows {
            var values = Dictionary(uniqueKeysWithValues: WholeModel.personAttributes.map { ($0.0, "nil") })
            values["rank"] = WholeModel.text(row["rank"])
            values["name"] = "'batch'"
            world.things[nextKey] = NaiveWorld.Thing(entity: "Person", values: values)
            if let team { world.setOne(nextKey, "team", team) }
            nextKey += 1
        }
    }

    private func batchDelete() throws {
        let chosen = (0..<2).compactMap { _ in pick() }.filter { !world.isDenied($0) }
        note("batch delete \(chosen)")
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
        fetch.predicate = NSPredicate(format: "key IN %@", chosen)
        try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        for key in chosen { world.delete(key) }
    }

    private func batchUpdate() throws {
        let limit = random.below(60)
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.predicate = NSPredicate(format: "rank > %d", limit)
        let team = pick("Team")
        let setsTeam = random.chance(0.4)
        note("batch update above \(limit)\(setsTeam ? ", team \(team ?? 0)" : "")")
        request.propertiesToUpdate = ["rank": NSExpression(format: "rank - 1"), "uri": NSNull()]
        if setsTeam { request.propertiesToUpdate?["team"] = team.map { ids[$0] as Any } ?? NSNull() }
        try context.execute(request)
        for key in world.keys("Person") {
            guard let rank = world.things[key]?.values["rank"].flatMap(Int.init), rank > limit else { continue }
            world.things[key]?.values["rank"] = "\(rank - 1)"
            world.things[key]?.values["uri"] = "nil"
            if setsTeam { world.setOne(key, "team", team) }
        }
    }
}
