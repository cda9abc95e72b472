import CoreData
import Foundation
import StrataIO
import StrataLog
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata
@testable import StrataTransfer

/// The import of an Apple store into a new one: with a crash after every operation, an error at every call, and another
/// process at every step.
///
/// Whatever comes of it, the new store is there whole or not at all; the file stays as it is; and the import, begun
/// again where there is nothing, comes to its end.
///
/// A debug build looks at some of the places, a release build at all.
@Suite struct ImportSweepTests {
    private static let directory: FilePath = "/d"
    private static let store = URL(fileURLWithPath: "/d/store", isDirectory: true)
    private let scratch: Scratch
    private let file: URL
    private let bytes: Data
    private let model: NSManagedObjectModel

    init() throws {
        scratch = try Scratch()
        file = scratch.url("Library.sqlite")
        model = Self.makeModel()
        try Self.fill(scratch.url("store"), model)
        try CoreDataExporter(scratch.url("store")).run(to: file)
        bytes = try Data(contentsOf: file)
    }

    private static func makeModel() -> NSManagedObjectModel {
        let (note, tag) = (NSEntityDescription(), NSEntityDescription())
        (note.name, tag.name) = ("Note", "Tag")
        let text = NSAttributeDescription()
        (text.name, text.attributeType) = ("text", .stringAttributeType)
        let (tags, notes) = (NSRelationshipDescription(), NSRelationshipDescription())
        (tags.name, tags.destinationEntity, tags.inverseRelationship) = ("tags", tag, notes)
        (notes.name, notes.destinationEntity, notes.inverseRelationship) = ("notes", note, tags)
        (note.properties, tag.properties) = ([text, tags], [notes])
        let model = NSManagedObjectModel()
        model.entities = [note, tag]
        return model
    }

    private static func fill(_ url: URL, _ model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            for index in 0..<5 {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("n\(index)", forKey: "text")
                if index % 2 == 0 { note.setValue(Set([tag]), forKey: "tags") }
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func options(_ fileSystem: any FileSystem) -> [AnyHashable: Any] {
        let host = StoreHost(fileSystem: fileSystem) { options in
            options.segmentMaximumBytes = 64 << 10
            options.preallocationMinimumBytes = 4096
            options.cacheMaximumBytes = 1 << 20
            options.checkpointsInBackground = false
        }
        return [StoreHost.option: host]
    }

    private func run(_ fileSystem: any FileSystem) throws {
        _ = try CoreDataImporter(file).run(to: Self.store, options: options(fileSystem), model: model)
    }

    private static func disk() throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory(directory)
        try fileSystem.syncDirectory("/")
        try fileSystem.open("/d/store.strata-notes", .create).close()
        try fileSystem.syncDirectory(directory)
        return fileSystem.fork()
    }

    /// What the new store holds; nil where there is none.
    private func look(_ fileSystem: any FileSystem, readOnly: Bool) throws -> [String]? {
        guard try fileSystem.attributes("/d/store") != nil else { return nil }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = options(fileSystem)
        options[NSReadOnlyPersistentStoreOption] = readOnly
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: Self.store, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let notes = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map { note in
                "\(note.value(forKey: "text") ?? "") \((note.value(forKey: "tags") as? NSSet)?.count ?? 0)"
            }.sorted()
        }
        try coordinator.remove(store)
        return notes
    }

    private static let whole = (0..<5).map { "n\($0) \(1 - $0 % 2)" }

    private func check(_ image: SimulatedFileSystem, isDone: Bool, _ hint: @autoclosure () -> String) {
        do {
            for readOnly in [true, false] {
                let found = try look(image, readOnly: readOnly)
                #expect(found == Self.whole || found == nil && !isDone, "\(hint()): \(found ?? [])")
            }
            if try look(image, readOnly: true) == nil { try run(image) }
            #expect(try look(image, readOnly: false) == Self.whole, "\(hint()): imported again")
            let names = try image.list(Self.directory)
            // Opening a store for writing makes the two that SQLite would have.
            let others = Set(names).subtracting(["store-wal", "store-shm"])
            #expect(others == ["store", "store.strata-notes"], "\(hint()): there are \(names)")
            #expect(try Data(contentsOf: file) == bytes, "\(hint()): the file has changed")
        } catch {
            Issue.record("\(hint()): \(error)")
        }
    }

    private static func stride(_ count: Int) -> Int { BuildMode.isDebug ? max(1, count / 4) : 1 }

    @Test func aCrashLeavesTheWholeStoreOrNone() throws {
        let live = try Self.disk()
        try run(live)
        var cursor = live.trace.cursor()
        let stride = Self.stride(live.trace.count)
        var seed: UInt64 = 0
        repeat {
            let isDone = cursor.position == live.trace.count
            guard isDone || cursor.position % stride == 0 else { continue }
            for (policy, times) in [
                (SimulatedFileSystem.CrashPolicy.killed, 1), (.strict, 3), (.ordered, 1), (.evil, 3),
            ]
            where policy == .killed || cursor.hasUnsyncedChanges {
                for _ in 0..<times {
                    seed += 1
                    check(
                        cursor.image(policy: policy, seed: seed), isDone: isDone,
                        "crash after operation \(cursor.position), \(policy), seed \(seed)")
                }
            }
        } while cursor.advance()
        #expect(seed > 4)
    }

    @Test func anErrorLeavesTheWholeStoreOrNone() throws {
        typealias Fault = SimulatedFileSystem.Fault
        let base = try Self.disk()
        let quiet = base.fork()
        let before = quiet.callCount()
        try run(quiet)
        let calls = quiet.callCount() - before
        let faults: [(Int) -> Fault] = [
            { Fault(.fail(.ioError), atCall: $0, flushLoss: .some(seed: UInt64($0))) },
            { Fault(.fail(.noSpace), atCall: $0, flushLoss: .nothing) },
            { Fault(.fail(.ioError), atCall: $0, repetition: .always) },
        ]
        for call in Swift.stride(from: 1, through: calls, by: Self.stride(calls)) {
            for (index, fault) in faults.enumerated() {
                let live = base.fork()
                live.inject(fault(call))
                let succeeded = (try? run(live)) != nil
                live.removeFaults()
                let hint = "fault \(index) at call \(call)"
                check(live.crashImage(policy: .evil, seed: UInt64(call)), isDone: succeeded, "\(hint), then a crash")
                check(live, isDone: succeeded, "\(hint), in the same process")
            }
        }
    }

    /// The other process imports the same file, or looks whether the store is there.
    @Test(arguments: [true, false]) func anotherProcessGetsTheWholeStoreOrNone(_ imports: Bool) throws {
        let base = try Self.disk()
        var step = 0
        var stride = 0
        while true {
            let disk = base.fork()
            let process = SimulatedProcess(disk)
            let other = OtherProcessFileSystem(disk)
            var position = 0
            var second: Result<[String]?, any Error>?
            process.interleave = {
                position += 1
                guard position == step + 1 else { return }
                second = Result {
                    guard imports else { return try look(other, readOnly: true) }
                    try run(other)
                    return Self.whole
                }
            }
            let first = Result { try run(process) }
            process.interleave = {}
            if stride == 0 { stride = Self.stride(position) }
            guard let second else { break }
            let hint = "step \(step)"
            switch second {
            case .success(let found): #expect(found == nil || found == Self.whole, "\(hint): \(found ?? [])")
            case .failure(let error):
                #expect(imports, "\(hint): \(error)")
                if case .failure(let error) = first { Issue.record("\(hint): both failed, \(error)") }
            }
            check(disk.crashImage(policy: .strict, seed: UInt64(step)), isDone: true, hint)
            step += stride
        }
        #expect(step > 0)
    }
}
