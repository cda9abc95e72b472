import Foundation

/// Gives index titles; a controller, whose class may override them.
protocol SectionIndexTitles: AnyObject {
    func sectionIndexTitle(forSectionName sectionName: String) -> String?
}

/// What a fetched results controller does, whatever its result type.
final class FetchedResultsCore {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    let cacheName: String?
    private let namePath: KeyPathComponents?
    private let currentSettings: (KeyPathComponents?) -> FetchedResultsSettings
    private let fetch: () throws -> [AnyObject]

    /// The controller that delegates are told of, and the one whose class gives index titles.
    weak var presented: NSFetchedResultsController<any NSFetchRequestResult>?
    weak var titles: (any SectionIndexTitles)?
    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { follow() }
    }
    /// Set by the default implementation of a delegate's method.
    var delegateLacksMethod = false

    private(set) var list: FetchedResultList?
    /// Grows with every change of `list`.
    private(set) var version = 0
    private var settings: FetchedResultsSettings?
    private var members = IdentitySet()
    private var positions: [ObjectIdentifier: Int]?
    private var observer: (any NSObjectProtocol)?
    /// Waits for the save that makes the temporary IDs of the last snapshot permanent.
    private var saveObserver: (any NSObjectProtocol)?
    private var temporaryIDs = 0
    /// Whether the delegate is being told of a round of changes. What it changes meanwhile is told in a later round.
    private var isReporting = false
    /// What changed meanwhile, and whether the delegate wants a snapshot after it.
    private var waiting: [Notification] = []
    private var isSnapshotDue = false
    private var streams: [UUID: AsyncStream<FetchedResultsDifference>.Continuation] = [:]

    init(
        _ context: NSManagedObjectContext, sectionNameKeyPath: String?, cacheName: String?,
        settings: @escaping (KeyPathComponents?) -> FetchedResultsSettings, fetch: @escaping () throws -> [AnyObject]
    ) {
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
        namePath = sectionNameKeyPath.map { KeyPathComponents($0) }
        currentSettings = settings
        self.fetch = fetch
    }

    deinit {
        for case let observer? in [observer, saveObserver] { NotificationCenter.default.removeObserver(observer) }
        for stream in streams.values { stream.finish() }
    }

    // MARK: Fetching

    func performFetch() throws {
        let settings = currentSettings(namePath)
        let token = stableToken
        let (objects, list) = try context.limited(settings.timeLimit) { control in
            let objects = try inOrder(fetchReported(), settings, control)
            return (objects, try divided(objects, settings, token, control))
        }
        self.settings = settings
        set(list)
        waiting = []
        members = IdentitySet()
        for case let object as NSManagedObject in objects { members.insert(object) }
        follow()
        deliverSnapshot()
    }

    /// The results, but for those whose insertion is told when the event ends, while somebody listens who is told: a
    /// rollback before would not tell that they are gone.
    private func fetchReported() throws -> [AnyObject] {
        let objects = try fetch()
        guard context.underWay > 0, delegate != nil || !streams.isEmpty else { return objects }
        return objects.filter { ($0 as? NSManagedObject)?.flags.isReportedAsInserted != true }
    }

    /// The results in the order of what the context sees. A fetch places what the context has not changed by what the
    /// store holds, but the objects that the keys lead to may have been changed.
    ///
    /// - Complexity: O(n log n) when that is so or the context has a parent, whose changes are its own affair.
    private func inOrder(
        _ objects: [AnyObject], _ settings: FetchedResultsSettings, _ control: RequestControl?
    ) throws -> [AnyObject] {
        guard let paths = settings.paths, !settings.sorts.isEmpty,
            context.link != nil || context.updatedObjects.contains(where: { paths.mayPass($0.shape) })
        else { return objects }
        let results = objects.compactMap { $0 as? NSManagedObject }
        guard results.count == objects.count else { return objects }
        var pace = ControlPace(control, every: 64)
        return try results.sorted { left, right in
            try pace.step()
            return settings.precedes(left, right)
        }
    }

    /// The results in sections: as the cache has them, if nothing has changed since, or by reading every object.
    ///
    /// - Parameter token: what the stores held before the results were fetched.
    private func divided(
        _ objects: [AnyObject], _ settings: FetchedResultsSettings, _ token: NSPersistentHistoryToken?,
        _ control: RequestControl?
    ) throws -> FetchedResultList {
        guard let cacheName, let token, let namePath, let signature = SectionSignature(settings, namePath) else {
            return FetchedResultList(objects, names: try names(of: objects, control), self)
        }
        if let runs = SectionCache.runs(cacheName, signature, token),
            runs.reduce(0, { $0 + $1.count }) == objects.count
        {
            return FetchedResultList(objects, runs: runs.map { ($0.name, $0.count) }, self)
        }
        let list = FetchedResultList(objects, names: try names(of: objects, control), self)
        if token == stableToken {
            let runs = list.sections.map { SectionCache.Run(name: $0.name, count: $0.elements.count) }
            SectionCache.keep(cacheName, SectionCache.Entry(signature: signature, token: token, runs: runs))
        }
        return list
    }

    private func set(_ list: FetchedResultList) {
        self.list = list
        version += 1
        positions = nil
    }

    /// What the stores hold, as long as the context sees that and nothing else.
    private var stableToken: NSPersistentHistoryToken? {
        // A parent's unsaved changes are seen, too, and a pinned context sees something older.
        guard !context.hasChanges, context.link == nil, context.generation == nil else { return nil }
        return context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }

    /// - Throws: `CocoaError` 134060 when a name comes up again after another one.
    private func names(of objects: [AnyObject], _ control: RequestControl?) throws -> [String]? {
        guard namePath != nil else { return nil }
        var names: [String] = []
        names.reserveCapacity(objects.count)
        // The objects are in the store's order, whose equality parts "é" from "e" with an accent.
        var seen: Set<ExactText> = []
        var pace = ControlPace(control, every: 64)
        for (index, object) in objects.enumerated() {
            try pace.step()
            let name = sectionName(of: object)
            if names.last.map(name.isExactly) != true, !seen.insert(ExactText(name)).inserted {
                throw DescribedError(
                    .coreData,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The fetched object at index \(index) has an out of order section name '\(name)'. Objects "
                            + "must be sorted by section name."
                    ])
            }
            names.append(name)
        }
        return names
    }

    func sectionName(of object: AnyObject) -> String {
        guard let namePath, let value = KeyValueAccess.value(of: object, path: namePath) else { return "" }
        switch value {
        case is NSNull: return ""
        case let text as String: return text
        case let number as NSNumber: return number.stringValue
        default: return String(describing: value)
        }
    }

    // MARK: Looking up

    func indexPath(of object: AnyObject) -> IndexPath? {
        guard let list else { return nil }
        if positions == nil {
            var positions: [ObjectIdentifier: Int] = [:]
            positions.reserveCapacity(list.objects.count)
            for (index, object) in list.objects.enumerated() { positions[ObjectIdentifier(object)] = index }
            self.positions = positions
        }
        if let index = positions?[ObjectIdentifier(object)] { return list.path(index) }
        // Results that are not managed objects may be equal without being the same.
        guard !(object is NSManagedObject), let object = object as? NSObject else { return nil }
        return list.objects.firstIndex { object.isEqual($0) }.map { list.path($0) }
    }

    static func defaultIndexTitle(_ name: String) -> String? {
        name.first.map { String($0).uppercased() }
    }

    func indexTitle(_ name: String) -> String? {
        guard let titles else { return Self.defaultIndexTitle(name) }
        return titles.sectionIndexTitle(forSectionName: name)
    }

    /// The titles and the first section of each.
    var indexTitles: [(title: String, section: Int)] {
        var seen: Set<ExactText> = []
        var found: [(title: String, section: Int)] = []
        guard namePath != nil else { return found }
        for (index, section) in (list?.sections ?? []).enumerated() {
            if let title = section.indexTitle, seen.insert(ExactText(title)).inserted { found.append((title, index)) }
        }
        return found
    }

    func snapshot(reloaded: [NSManagedObjectID]) -> NSDiffableDataSourceSnapshotReference {
        let sections = (list?.sections ?? []).map { section in
            (
                name: section.name,
                items: section.elements.compactMap { element in
                    (element as? NSManagedObject)?.objectID ?? element as? NSManagedObjectID
                }
            )
        }
        return NSDiffableDataSourceSnapshotReference(sections, reloaded: reloaded)
    }

    // MARK: Following

    /// Listens to the context while somebody listens to the controller.
    private func follow() {
        let isNeeded = list != nil && settings?.shape != nil && (delegate != nil || !streams.isEmpty)
        if !isNeeded {
            if let observer { NotificationCenter.default.removeObserver(observer) }
            observer = nil
            context.followers?.remove(self)
        } else if observer == nil {
            let core = WeakCore(self)
            observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { core.core?.contextDidChange($0) }
            context.madeFollowers.add(self)
        }
    }

    /// Those objects, of some that others have changed and the context does not have in memory, which the predicate
    /// finds now. One fetch, whatever their number.
    func arrivals(among ids: [NSManagedObjectID]) -> [NSManagedObject] {
        // Without predicate all are results already. What lies outside of a window stays there.
        guard let settings, let name = settings.shape?.name, let predicate = settings.asked, !settings.isWindow,
            delegate != nil || !streams.isEmpty
        else { return [] }
        let candidates = ids.filter {
            settings.takes($0.shape) && context.registeredObject(for: $0) == nil && !isRemote($0)
        }
        if candidates.isEmpty { return [] }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.includesSubentities = settings.includesSubentities
        request.affectedStores = settings.affectedStores
        request.returnsObjectsAsFaults = false
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "SELF IN %@", candidates), predicate,
        ])
        do {
            return try context.results(of: request)
        } catch {
            Warnings.once(
                "a results controller of \(name) could not look for objects that have come to match: they come in with "
                    + "the next performFetch()")
            return []
        }
    }

    /// Those objects, of some that others have changed and the context does not have in memory, that results may be
    /// sorted or divided by.
    func related(among ids: [NSManagedObjectID]) -> [NSManagedObject] {
        guard let paths = settings?.paths, delegate != nil || !streams.isEmpty else { return [] }
        return ids.filter { paths.mayPass($0.shape) && context.registeredObject(for: $0) == nil && !isRemote($0) }
            .compactMap { context.canHave($0) ? context.object(with: $0) : nil }
    }

    /// Whether an object lives in an incremental store, which may be far away and answers no request that the program
    /// does not make.
    private func isRemote(_ id: NSManagedObjectID) -> Bool {
        guard let identity = id.identity, let handle = context.coordinator?.handle(identity) else { return false }
        return handle.custom is IncrementalStoreLink
    }

    func makeStream() -> AsyncStream<FetchedResultsDifference> {
        let id = UUID()
        let (stream, continuation) = AsyncStream<FetchedResultsDifference>.makeStream()
        streams[id] = continuation
        let core = WeakCore(self)
        continuation.onTermination = { _ in
            // On the context's queue, since that is where the streams are looked at.
            core.core?.context.perform {
                core.core?.streams[id] = nil
                core.core?.follow()
            }
        }
        follow()
        return stream
    }

    private func contextDidChange(_ notification: Notification) {
        if notification.userInfo?[NSInvalidatedAllObjectsKey] != nil {
            // The context was reset: none of the results can be read any more, until they are fetched again.
            settings = nil
            waiting = []
            follow()
            return
        }
        if isReporting { waiting.append(notification) } else { report { take([notification], isLate: false) } }
    }

    /// Tells the delegate something, and then what its methods have brought about.
    private func report(_ body: () -> Void) {
        isReporting = true
        defer { isReporting = false }
        body()
        while true {
            if !waiting.isEmpty {
                let notifications = waiting
                waiting = []
                take(notifications, isLate: true)
            } else if isSnapshotDue {
                isSnapshotDue = false
                tellSnapshot(reloaded: [])
            } else {
                return
            }
        }
    }

    /// Works out a round, and tells of it.
    ///
    /// - Parameters:
    ///   - notifications: all that have come since the last round. What is told of one by one would be compared with
    ///     neighbours that have their values of later.
    ///   - isLate: whether the events are over, so that objects no longer say what has changed in them.
    private func take(_ notifications: [Notification], isLate: Bool) {
        guard let list, let settings else { return }
        let infos = notifications.compactMap(\.userInfo)
        var update = FetchedResultsUpdate(list, settings, self)
        func objects(_ key: String) -> Set<NSManagedObject> {
            guard infos.count > 1 else { return infos.first?[key] as? Set<NSManagedObject> ?? [] }
            return infos.reduce(into: []) { $0.formUnion($1[key] as? Set<NSManagedObject> ?? []) }
        }
        let keys = [
            NSDeletedObjectsKey, NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey,
            NSInvalidatedObjectsKey,
        ]
        for key in keys {
            for object in objects(key) { update.look(at: object, &members) }
        }
        let untold = context.pipeline.untold
        if let paths = settings.paths {
            var passed = Set(
                objects(NSUpdatedObjectsKey).filter {
                    isLate ? paths.mayPass($0.shape) : paths.countsInEvent($0)
                })
            for key in keys where key != NSUpdatedObjectsKey {
                passed.formUnion(objects(key).filter { paths.mayPass($0.shape) })
            }
            passed.formUnion(untold.filter { paths.mayPass($0.shape) })
            update.look(along: paths, to: passed, &members)
        }
        for object in untold { update.lookAgain(at: object, &members) }
        update.calculate()
        guard !update.isEmpty else { return }
        set(update.list)
        tell(update, list)
    }

    /// Gives the delegate a snapshot of what has been fetched or saved. Not in the middle of another call, after which
    /// the delegate might use what it was given before.
    private func deliverSnapshot() {
        if isReporting { isSnapshotDue = true } else { report { tellSnapshot(reloaded: []) } }
    }

    /// Gives the delegate a snapshot, and another one once a save has made its temporary IDs permanent.
    private func tellSnapshot(reloaded: [NSManagedObjectID]) {
        guard let delegate, let presented else { return }
        let before = version
        delegateLacksMethod = false
        delegate.controller(presented, didChangeContentWith: snapshot(reloaded: reloaded))
        guard !delegateLacksMethod, version == before else { return }
        awaitPermanentIDs()
    }

    private func awaitPermanentIDs() {
        if let saveObserver { NotificationCenter.default.removeObserver(saveObserver) }
        saveObserver = nil
        temporaryIDs = countTemporaryIDs()
        guard temporaryIDs > 0 else { return }
        let core = WeakCore(self)
        saveObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { _ in core.core?.contextDidSave() }
    }

    private func contextDidSave() {
        // They stay temporary in a context with a parent. After a reset there is nothing to tell of.
        guard settings != nil, countTemporaryIDs() != temporaryIDs else { return }
        deliverSnapshot()
    }

    private func countTemporaryIDs() -> Int {
        (list?.objects ?? []).count { ($0 as? NSManagedObject)?.objectID.isTemporaryID == true }
    }

    /// - Parameter old: the results before.
    private func tell(_ update: FetchedResultsUpdate, _ old: FetchedResultList) {
        if !streams.isEmpty {
            let difference = update.difference
            for stream in streams.values { stream.yield(difference) }
        }
        guard let delegate, let presented else { return }
        let reloaded = update.objects.filter { $0.type == .update || $0.type == .move }
        tellSnapshot(reloaded: reloaded.compactMap(\.managedObject?.objectID))
        guard delegateLacksMethod else { return }
        if namePath == nil, let difference = update.collectionDifference {
            delegateLacksMethod = false
            delegate.controller(presented, didChangeContentWith: difference)
            guard delegateLacksMethod else { return }
        }
        // What is about to change is still as it was: delegates remember it here.
        set(old)
        let before = version
        delegate.controllerWillChangeContent(presented)
        if version == before {
            set(update.list)
            tellOneByOne(update, delegate, presented)
        }
        if self.delegate === delegate { delegate.controllerDidChangeContent(presented) }
    }

    /// Tells of each change, as long as that leads to the results: in the middle the delegate may fetch anew, reset the
    /// context, or be taken away.
    private func tellOneByOne(
        _ update: FetchedResultsUpdate, _ delegate: any NSFetchedResultsControllerDelegate,
        _ presented: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        let told = version
        var leadsToResults: Bool { version == told && settings != nil && self.delegate === delegate }
        func tellOfSections(_ type: NSFetchedResultsChangeType) {
            for change in update.sections where change.type == type && leadsToResults {
                delegate.controller(presented, didChange: change.section, atSectionIndex: change.index, for: type)
            }
        }
        tellOfSections(.insert)
        for change in update.objects where leadsToResults {
            delegate.controller(
                presented, didChange: change.object, at: change.from, for: change.type, newIndexPath: change.to)
        }
        tellOfSections(.delete)
    }
}

/// Unchecked: only used on the context's queue, but for taking the reference.
struct WeakCore: SweptReference, @unchecked Sendable {
    weak var core: FetchedResultsCore?
    let identity: ObjectIdentifier

    init(_ core: FetchedResultsCore) {
        self.core = core
        identity = ObjectIdentifier(core)
    }

    var isAlive: Bool { core != nil }
}
