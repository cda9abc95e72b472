import Foundation

/// Objects by what happened to them, for notifications.
struct ObjectChanges {
    var inserted: ContiguousArray<NSManagedObject> = []
    var updated: ContiguousArray<NSManagedObject> = []
    var deleted: ContiguousArray<NSManagedObject> = []
    var refreshed: Set<NSManagedObject> = []
    /// `inserted` as a set, when somebody has made it already.
    var insertedSet: Set<NSManagedObject>?
    /// `deleted` likewise.
    var deletedSet: Set<NSManagedObject>?

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    /// Has an object that has changed more than once in one list only: the deleted ones, then the inserted ones.
    mutating func dropRepeated() {
        var known: Set<ObjectMember> = []
        deleted.keepUnknown(&known)
        inserted.keepUnknown(&known)
        updated.keepUnknown(&known)
        (insertedSet, deletedSet) = (nil, nil)
    }

    /// Posts `NSManagedObjectContextObjectsDidChange`, if something has changed.
    mutating func report(from context: NSManagedObjectContext) {
        guard !isEmpty else { return }
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = makeInsertedSet() }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = Self.set(updated) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = makeDeletedSet() }
        if !refreshed.isEmpty { info[NSRefreshedObjectsKey] = refreshed }
        let pipeline = context.pipeline
        pipeline.reports.append(self)
        defer { pipeline.reports.removeLast() }
        context.post(.NSManagedObjectContextObjectsDidChange, info)
    }

    private mutating func makeInsertedSet() -> Set<NSManagedObject> {
        let set = insertedSet ?? Self.set(inserted)
        insertedSet = set
        return set
    }

    private mutating func makeDeletedSet() -> Set<NSManagedObject> {
        let set = deletedSet ?? Self.set(deleted)
        deletedSet = set
        return set
    }

    private static let savedSets = SavedSetsInfo(
        inserted: NSInsertedObjectsKey, updated: NSUpdatedObjectsKey, deleted: NSDeletedObjectsKey)

    /// Posts the notification of a save, which has all three sets, empty or not.
    mutating func postSaved(from context: NSManagedObjectContext, extra: [AnyHashable: Any] = [:]) {
        var info = Self.savedSets.filled(
            inserted: makeInsertedSet(), updated: Self.set(updated), deleted: makeDeletedSet())
        for (key, value) in extra { info[key] = value }
        if !refreshed.isEmpty { info[NSRefreshedObjectsKey] = refreshed }
        context.post(.NSManagedObjectContextDidSave, info)
    }

    /// Posts the notification of a save that has IDs instead of objects. Deleted objects have left the context; their
    /// IDs must have been made before.
    ///
    /// - Parameters:
    ///   - insertedIDs: those of the inserted objects, if somebody has made them already.
    ///   - deletedIDs: those of the deleted ones likewise.
    func postSavedIDs(
        from context: NSManagedObjectContext, insertedIDs: Set<NSManagedObjectID>? = nil,
        deletedIDs: Set<NSManagedObjectID>? = nil
    ) {
        context.postSavedIDs(
            ContextNews(
                context, inserted: insertedIDs ?? Self.ids(inserted), updated: Self.ids(updated),
                deleted: deletedIDs ?? Self.ids(deleted)))
    }

    private static func ids(_ objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObjectID> {
        if objects.isEmpty { return [] }
        var set = Set<IDMember>(minimumCapacity: capacity(objects.count))
        objects.forEachUnretained { set.update(with: IDMember($0.objectID)) }
        return set.asIDs()
    }

    private static func set(_ objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObject> {
        if objects.isEmpty { return [] }
        var set = Set<ObjectMember>(minimumCapacity: capacity(objects.count))
        var isPlain = true
        // Unlike an insertion, this gives nothing back that would have to be counted.
        objects.forEachUnretained { object in
            if object.overrides.contains(.equality) { isPlain = false }
            set.update(with: ObjectMember(object))
        }
        return isPlain ? set.asObjects() : Set(objects)
    }

    /// For how many members a set is made: half empty, since a collision costs as much as an insertion, unless it is
    /// too large for the processor's caches anyway.
    static func capacity(_ count: Int) -> Int { count < 1 << 17 ? count * 2 : count }
}
