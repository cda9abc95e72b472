import Foundation
import Strata
import StrataIO
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Stores on descriptors that programs print to, in directories that have become others, and what lies beside them.
@Suite struct StorePlaceTests {
    static let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]

    private static func model() -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        let text = NSAttributeDescription()
        text.name = "text"
        text.attributeType = .stringAttributeType
        text.isOptional = true
        note.properties = [text]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private static func open(_ url: URL, _ type: String) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    private static func add(_ count: Int, _ text: String = "", to coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<count {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(text, forKey: "text")
            }
            try context.save()
        }
    }

    private static func count(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
        }
    }

    private static func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func withDirectory(_ body: (URL) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("place-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url)
    }

    /// A program that was started with its standard descriptors closed: what it printed went into the store's files,
    /// which could not be opened again.
    @Test func whatIsPrintedDoesNotLandInAStore() async {
        await #expect(processExitsWith: .success) {
            for number: Int32 in 0...2 { closeDescriptor(number) }
            for type in StorePlaceTests.types { try StorePlaceTests.printBesideStore(type) }
            exit(0)
        }
    }

    fileprivate static func printBesideStore(_ type: String) throws {
        func print() {
            let text = String(repeating: "a message that is printed. ", count: 20)
            for number: Int32 in 1...2 { _ = write(number, text, text.utf8.count) }
        }
        try withDirectory { directory in
            let url = directory.appendingPathComponent("store")
            let coordinator = try open(url, type)
            print()
            try add(20, String(repeating: "x", count: 5000), to: coordinator)
            print()
            try close(coordinator)
            print()
            let again = try open(url, type)
            guard try count(again) == 20 else { exit(2) }
            try close(again)
        }
    }

    /// An older stack that was still open wrote its checkpoint, its manifest and large values into the store that had
    /// taken its place: error 259 there.
    @Test(arguments: [true, false], [0, 5_000_000])
    func aStoreThatTookAnothersPlaceIsLeftAlone(isMoved: Bool, byteCount: Int) throws {
        try Self.withDirectory { directory in
            let url = directory.appendingPathComponent("store")
            let aside = directory.appendingPathComponent("aside")
            let old = try Self.open(url, NSSQLiteStoreType)
            try Self.add(50, to: old)
            if isMoved {
                try FileManager.default.moveItem(at: url, to: aside)
            } else {
                try FileManager.default.removeItem(at: url)
            }
            let new = try Self.open(url, NSSQLiteStoreType)
            try Self.add(10, to: new)
            let error = #expect(throws: CocoaError.self) {
                try Self.add(1, String(repeating: "x", count: byteCount), to: old)
            }
            #expect(error?.code == .persistentStoreSave)
            #expect(error?.localizedDescription.contains("not at its path") == true)
            try Self.add(1, to: new)
            try Self.close(new)
            try Self.close(old)
            let again = try Self.open(url, NSSQLiteStoreType)
            #expect(try Self.count(again) == 11)
            try Self.close(again)
            guard isMoved else { return }
            let moved = try Self.open(aside, NSSQLiteStoreType)
            #expect(try Self.count(moved) == 50)
            try Self.close(moved)
        }
    }

    /// Nobody saves by a way that leads elsewhere.
    @Test func aStoreThatWasMovedIsOpenedAnewOnceItIsClosed() throws {
        try Self.withDirectory { directory in
            let (url, aside) = (directory.appendingPathComponent("store"), directory.appendingPathComponent("aside"))
            let old = try Self.open(url, NSSQLiteStoreType)
            try Self.add(1, to: old)
            try FileManager.default.moveItem(at: url, to: aside)
            #expect(throws: CocoaError.self) { try Self.open(aside, NSSQLiteStoreType) }
            try Self.close(old)
            let new = try Self.open(aside, NSSQLiteStoreType)
            try Self.add(1, to: new)
            #expect(try Self.count(new) == 2)
            try Self.close(new)
        }
    }

    /// The program moves its store while it is open, and says so.
    @Test func aStoreThatWasMovedGoesOnAtTheURLThatItIsGiven() throws {
        try Self.withDirectory { directory in
            let (url, aside) = (directory.appendingPathComponent("store"), directory.appendingPathComponent("aside"))
            let coordinator = try Self.open(url, NSSQLiteStoreType)
            try Self.add(3, to: coordinator)
            try FileManager.default.moveItem(at: url, to: aside)
            #expect(throws: CocoaError.self) { try Self.add(1, to: coordinator) }
            #expect(coordinator.setURL(aside, for: coordinator.persistentStores[0]))
            try Self.add(1, to: coordinator)
            #expect(try Self.count(coordinator) == 4)
            try Self.close(coordinator)
            let again = try Self.open(aside, NSSQLiteStoreType)
            #expect(try Self.count(again) == 4)
            try Self.close(again)
        }
    }

    enum Change: CaseIterable {
        case moved, removed, replaced, leadsElsewhere, another
    }

    /// Saves of a store in one file landed in a directory that had come to its path, and one whose metadata could not
    /// be written stayed open for good.
    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType], Change.allCases)
    func aStoreInAFileSaysThatItIsElsewhere(_ type: String, _ change: Change) throws {
        try Self.withDirectory { directory in
            let files = FileManager.default
            let (place, aside) = (directory.appendingPathComponent("place"), directory.appendingPathComponent("aside"))
            try files.createDirectory(at: place, withIntermediateDirectories: false)
            let url = place.appendingPathComponent("store")
            let coordinator = try Self.open(url, type)
            try Self.add(3, to: coordinator)
            let written = try Data(contentsOf: url)
            if change == .removed { try files.removeItem(at: place) } else { try files.moveItem(at: place, to: aside) }
            switch change {
            case .moved, .removed: break
            case .replaced, .another: try files.createDirectory(at: place, withIntermediateDirectories: false)
            case .leadsElsewhere:
                let other = directory.appendingPathComponent("other")
                try files.createDirectory(at: other, withIntermediateDirectories: false)
                try files.createSymbolicLink(at: place, withDestinationURL: other)
            }
            if change == .another {
                let other = try Self.open(url, type)
                try Self.add(1, to: other)
                try Self.close(other)
            }
            let before = try? Data(contentsOf: url)
            for _ in 0..<2 {
                let error = #expect(throws: CocoaError.self) { try Self.add(1, to: coordinator) }
                #expect(error?.localizedDescription.contains("not at its path") == true)
            }
            #expect((try? Data(contentsOf: url)) == before)
            if change == .moved {
                try files.moveItem(at: aside, to: place)
                try Self.add(1, to: coordinator)
                #expect(try Self.count(coordinator) == 4)
                try files.moveItem(at: place, to: aside)
            } else if change != .removed {
                #expect(try Data(contentsOf: aside.appendingPathComponent("store")) == written)
            }
            coordinator.setMetadata(["key": "value"], for: coordinator.persistentStores[0])
            try Self.close(coordinator)
            #expect(coordinator.persistentStores.isEmpty)
            #expect((try? Data(contentsOf: url)) == before)
        }
    }

    /// The directory is the same: nothing of somebody else's can be there, and nothing is lost.
    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType]) func aFileThatIsGoneIsWrittenAnew(_ type: String) throws {
        try Self.withDirectory { directory in
            let url = directory.appendingPathComponent("store")
            let coordinator = try Self.open(url, type)
            try Self.add(3, to: coordinator)
            try FileManager.default.removeItem(at: url)
            try Self.add(1, to: coordinator)
            try Self.close(coordinator)
            #expect(try Self.count(Self.open(url, type)) == 4)
        }
    }

    /// Metadata that cannot be written kept it open.
    @Test func aStoreThatIsGoneIsRemovedWithMetadataThatWasSet() throws {
        try Self.withDirectory { directory in
            let url = directory.appendingPathComponent("store")
            let coordinator = try Self.open(url, NSSQLiteStoreType)
            try Self.add(3, to: coordinator)
            try FileManager.default.removeItem(at: url)
            coordinator.setMetadata(["key": "value"], for: coordinator.persistentStores[0])
            try Self.close(coordinator)
            #expect(coordinator.persistentStores.isEmpty)
        }
    }

    /// A coordinator's own replacement of a store that it has open goes on working, and does not take another's.
    @Test(arguments: [false, true]) func aStoreInUseIsReplacedOnlyWhereItIs(isDisplaced: Bool) throws {
        try Self.withDirectory { directory in
            let (url, source) = (directory.appendingPathComponent("store"), directory.appendingPathComponent("source"))
            let other = try Self.open(source, NSSQLiteStoreType)
            try Self.add(7, to: other)
            try Self.close(other)
            let coordinator = try Self.open(url, NSSQLiteStoreType)
            try Self.add(1, to: coordinator)
            if isDisplaced {
                try FileManager.default.removeItem(at: url)
                let new = try Self.open(url, NSSQLiteStoreType)
                try Self.add(2, to: new)
                try Self.close(new)
            }
            try coordinator.replacePersistentStore(
                at: url, withPersistentStoreFrom: source, type: .sqlite)
            let again = try Self.open(url, NSSQLiteStoreType)
            #expect(try Self.count(again) == 7)
            try Self.close(again)
            try Self.close(coordinator)
        }
    }

    /// After a crash while a store was written, `NAME.strata-new` stayed beside it for good.
    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType], ["", "bplist00 and", "<?xm", "somebody's"])
    func whatACrashLeftBesideAStoreGoesAtTheNextOpening(_ type: String, _ contents: String) throws {
        try Self.withDirectory { directory in
            let url = directory.appendingPathComponent("store")
            let beside = directory.appendingPathComponent("store.strata-new")
            let coordinator = try Self.open(url, type)
            try Self.add(1, to: coordinator)
            try Self.close(coordinator)
            try Data(contents.utf8).write(to: beside)
            let readOnly = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try readOnly.addPersistentStore(
                ofType: type, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            #expect(FileManager.default.fileExists(atPath: beside.path))
            let again = try Self.open(url, type)
            #expect(FileManager.default.fileExists(atPath: beside.path) == (contents == "somebody's"))
            #expect(try Self.count(again) == 1)
            try Self.close(again)
        }
    }
}

/// The C function, which a method of the same name hides inside the suite.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
