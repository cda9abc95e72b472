import Foundation

/// What the notifications with IDs say.
struct ContextNews {
    let context: NSManagedObjectContext
    let inserted: Set<NSManagedObjectID>
    let updated: Set<NSManagedObjectID>
    let deleted: Set<NSManagedObjectID>
    let refreshed: Set<NSManagedObjectID>
    let invalidated: Set<NSManagedObjectID>
    let historyToken: NSPersistentHistoryToken?
    let queryGeneration: NSQueryGenerationToken?

    /// The notification with this name that says it. The sets of inserted, updated and deleted objects are always
    /// there.
    func notification(_ name: Notification.Name) -> Notification {
        var info = Self.sets.filled(inserted: inserted, updated: updated, deleted: deleted)
        if !refreshed.isEmpty { info[NSRefreshedObjectIDsKey] = refreshed }
        if !invalidated.isEmpty { info[NSInvalidatedObjectIDsKey] = invalidated }
        if let historyToken { info[NSPersistentHistoryTokenKey] = historyToken }
        if let queryGeneration { info[NSManagedObjectContextQueryGenerationKey] = queryGeneration }
        return Notification(name: name, object: context, userInfo: info)
    }

    private static let sets = SavedSetsInfo(
        inserted: NSInsertedObjectIDsKey, updated: NSUpdatedObjectIDsKey, deleted: NSDeletedObjectIDsKey)
}

extension ContextNews {
    /// What a save has to say.
    init(
        _ context: NSManagedObjectContext, inserted: Set<NSManagedObjectID>, updated: Set<NSManagedObjectID>,
        deleted: Set<NSManagedObjectID>
    ) {
        self.init(
            context: context, inserted: inserted, updated: updated, deleted: deleted, refreshed: [], invalidated: [],
            historyToken: nil, queryGeneration: nil)
    }

    /// Nil for a notification that is not a context's.
    init?(_ notification: Notification) {
        guard let context = notification.object as? NSManagedObjectContext else { return nil }
        let info = notification.userInfo ?? [:]
        func ids(_ key: String) -> Set<NSManagedObjectID> { info[key] as? Set<NSManagedObjectID> ?? [] }
        self.init(
            context: context, inserted: ids(NSInsertedObjectIDsKey), updated: ids(NSUpdatedObjectIDsKey),
            deleted: ids(NSDeletedObjectIDsKey), refreshed: ids(NSRefreshedObjectIDsKey),
            invalidated: ids(NSInvalidatedObjectIDsKey),
            historyToken: info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken,
            queryGeneration: info[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken)
    }
}
