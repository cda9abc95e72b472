import Foundation
import StrataIO
import StrataLog
import StrataSupport
import SystemPackage

/// Moves everything in one store of a coordinator to a new one.
///
/// From log to log, rows are copied as they are, with their keys. Where a custom store takes part, objects are made for
/// everything.
struct StoreMigration {
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore
    private let source: StoreHandle

    init(_ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore, _ source: StoreHandle) {
        self.coordinator = coordinator
        self.store = store
        self.source = source
    }

    private var configuration: String? {
        store.configurationName == NSManagedObjectModel.defaultConfigurationName ? nil : store.configurationName
    }

    func run(to url: URL, options: [AnyHashable: Any]?, type: String) throws -> NSPersistentStore {
        let isCustom = try StoreClasses.customClass(type) != nil
        if isCustom || source.custom != nil { return try moveObjects(url, options, type) }
        if StoreOpening.isInMemory(type, url) { return try moveRowsIntoMemory(url, options, type) }
        return try moveRows(url, options, type)
    }

    // MARK: Row by row

    private func moveRows(_ url: URL, _ options: [AnyHashable: Any]?, _ type: String) throws -> NSPersistentStore {
        let opening = try StoreOpening(
            coordinator.shapes, type: type, configuration: configuration, url: url, options: options)
        let fileSystem = StoreHost.of(options).fileSystem
        let isSameLocation = store.url.map { StoreLocation($0) == StoreLocation(url) } ?? false
        do {
            // What another coordinator would write from now on would be lost.
            let reservation = isSameLocation ? SharedLogs.reserve(source.log) : nil
            if isSameLocation, reservation == nil {
                throw StoreError(.locked, "another coordinator uses the store that is to be replaced", path: url.path)
            }
            defer { if let reservation { SharedLogs.endReservation(source.log, reservation) } }
            try StoreDirectory(FilePath(url.path), fileSystem).replace(
                mustBeSound: true, isInUse: isSameLocation,
                // From here on the old store is the coordinator's no more, even if it lies at the same place.
                beforeInstalling: {
                    guard let handle = try withdraw() else { return nil }
                    if isSameLocation { return try handle.closeKeepingLock() }
                    try handle.close()
                    return nil
                }
            ) { path in
                var logOptions = LogOptions()
                logOptions.durability = .os
                let log = try LogStore.open(
                    path, in: fileSystem, options: logOptions, schema: source.log.schema.standalone)
                do {
                    try copyRows(to: log)
                } catch {
                    try? log.close()
                    throw error
                }
                try log.close()
            }
        } catch let error as StoreError {
            throw StoreFailure.opening(error, url.path)
        } catch let error as Errno {
            throw StoreFailure.opening(StoreError(.io, "the store cannot be made", errno: error), url.path)
        }
        return finish(try opening.open(), url, options, type, moved: nil)
    }

    private func moveRowsIntoMemory(
        _ url: URL, _ options: [AnyHashable: Any]?, _ type: String
    ) throws -> NSPersistentStore {
        var logOptions = LogOptions()
        logOptions.durability = .os
        do {
            let log = try LogStore.open(
                "/store", in: MemoryFileSystem(), options: logOptions, schema: source.log.schema.standalone)
            try copyRows(to: log)
            let stored = try StoredModel(bytes: log.schema.model)
            let handle = StoreHandle(
                log: log, map: StoreMap(coordinator.shapes, stored), shapes: coordinator.shapes, isReadOnly: false,
                path: url.path)
            try withdraw()?.close()
            return finish(handle, url, options, type, moved: nil)
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: source)
        }
    }

    /// A transaction must not grow without bounds; nobody sees the new log before all are there.
    private static let rowsPerTransaction = 100_000

    private func copyRows(to log: LogStore) throws {
        let snapshot = source.log.snapshot
        var transaction = log.makeTransaction()
        var count = 0
        for root in source.log.schema.entities where root.rootID == root.id {
            var last: UInt64 = 0
            try snapshot.forEachRun(root: root.id) { run throws(StoreError) in
                let block = try source.log.block(at: run.location)
                try block.verify()
                let writer = transaction.writer(for: block.entity)
                for index in 0..<run.count {
                    last = max(last, run.firstKey + UInt64(index))
                    try copy(Row(block: block, index: run.location.row + index), writer)
                }
                count += run.count
                if count >= Self.rowsPerTransaction {
                    _ = try log.commit(transaction)
                    transaction = log.makeTransaction()
                    count = 0
                }
                return true
            }
            if last > 0 { log.reserveKeys(root: root.id, through: last) }
        }
        _ = try log.commit(transaction)
        try StoreMetadata.write(store.metadata ?? [:], to: log)
    }

    private func copy(_ row: Row, _ writer: EntityWriter) throws(StoreError) {
        writer.beginInsert(key: row.ref.key)
        for slot in 0..<row.block.slotCount {
            let column = try row.block.column(slot)
            if column.isNull(row.index) { continue }
            if column.kind.fixedWidth == 0, column.isExternal(row.index) {
                let bytes = try source.log.read(column.external(row.index))
                bytes.withUnsafeBytes { writer.set(slot, bytes: $0) }
            } else {
                try writer.copy(slot, from: row, slot: slot)
            }
        }
        _ = writer.endRow()
    }

    // MARK: Object by object

    private func moveObjects(_ url: URL, _ options: [AnyHashable: Any]?, _ type: String) throws -> NSPersistentStore {
        let new = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        do {
            guard let target = new.handle else { throw StoreOpening.unknownType(type) }
            new.metadata = (store.metadata ?? [:]).filter { !StoreMetadata.systemKeys.contains($0.key) }
            let moved = try ObjectCopy(coordinator, from: store, source, to: new, target).run()
            try new.savePendingMetadata()
            try withdraw()?.close()
            announce(new, moved: moved)
        } catch {
            try coordinator.remove(new)
            throw error
        }
        return new
    }

    // MARK: Taking the place

    /// Takes the old store out of the coordinator.
    ///
    /// - Returns: what is to be closed.
    private func withdraw() throws -> StoreHandle? {
        try store.savePendingMetadata()
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        store.willRemove(from: coordinator)
        coordinator.withdraw(store)
        return store.detach(isMoving: true)
    }

    private func finish(
        _ handle: StoreHandle, _ url: URL, _ options: [AnyHashable: Any]?, _ type: String,
        moved: [ObjectRef: ObjectRef]?
    ) -> NSPersistentStore {
        let new = NSPersistentStore(
            coordinator: coordinator, type: type, configuration: configuration, url: url, options: options,
            handle: handle, metadata: StoreMetadata.read(handle.log, type: type))
        coordinator.install(new)
        new.didAdd(to: coordinator)
        announce(new, moved: moved)
        return new
    }

    /// Lets contexts and everybody who listens know.
    private func announce(_ new: NSPersistentStore, moved: [ObjectRef: ObjectRef]?) {
        if let target = new.handle {
            let move = UncheckedBox((source, target, moved))
            for context in coordinator.contexts {
                let box = UncheckedBox(context)
                let work = {
                    let (source, target, moved) = move.value
                    box.value.objectsMoved(from: source, to: target, moved)
                }
                if context.queue.isCurrent { work() } else { context.perform(work) }
            }
        }
        coordinator.postStoresDidChange([
            NSAddedPersistentStoresKey: [new], NSRemovedPersistentStoresKey: [store],
            NSUUIDChangedPersistentStoresKey: [store, new],
        ])
    }
}

extension NSManagedObjectContext {
    /// Makes the objects of a store those of the store that has taken its place.
    ///
    /// - Parameter moved: what each object's reference has become; nil when all are as before.
    fileprivate final func objectsMoved(
        from source: StoreHandle, to target: StoreHandle, _ moved: [ObjectRef: ObjectRef]?
    ) {
        let objects = registry.all.filter { registry.handle($0.storeIndex) === source }
        for object in objects { registry.forget(object) }
        guard registry.exchange(source, for: target) != nil else { return }
        // The same index is another store from now on.
        largeValues.removeAll()
        let snapshot = target.log.snapshot
        for object in objects {
            object.ref = moved.map { $0[object.ref] ?? object.ref } ?? object.ref
            object.cachedID = nil
            if !object.version.location.isAbsent {
                object.version = (try? snapshot.row(object.ref))?.version ?? .none
                // The row that the object holds is that of the old store.
                object.flags.remove(.rowIsCommitted)
            }
            registry.add(object)
        }
    }
}
