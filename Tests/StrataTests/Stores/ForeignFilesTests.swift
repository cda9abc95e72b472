import CoreData
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What is not a store's is not touched, whatever is asked for.
@Suite final class ForeignFilesTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-foreign-\(UUID().uuidString)")
    private let files = FileManager.default

    init() throws {
        try files.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? files.removeItem(at: directory)
    }

    private func place(_ name: String) -> URL { directory.appendingPathComponent(name) }
    /// What is in a directory, without the files that lie beside a store for clients of SQLite's.
    private func names(_ name: String) throws -> [String] {
        try files.contentsOfDirectory(atPath: place(name).path).filter { name in
            !["-wal", "-shm"].contains { name.hasSuffix($0) }
        }.sorted()
    }
    private func allNames() throws -> [String] { try files.contentsOfDirectory(atPath: directory.path).sorted() }
    private func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: place(name)) }
    private func text(_ name: String) throws -> String { try String(contentsOf: place(name), encoding: .utf8) }

    private func newCoordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
    }

    /// Makes a store with a department in it and closes it.
    private func make(_ name: String, _ type: NSPersistentStore.StoreType = .sqlite, title: String = "old") throws {
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: type, at: place(name))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            (insert("Department", context) as? Department)?.title = title
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func titles(_ name: String, _ type: NSPersistentStore.StoreType = .sqlite) throws -> [String?] {
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: type, at: place(name))
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try fetchAll(Department.self, "Department", context).map(\.title) }
    }

    private static let types: [NSPersistentStore.StoreType] = [.sqlite, .binary, .xml]

    // MARK: Directories

    @Test func aStoreIsMadeOnlyInAnEmptyOrMissingDirectory() throws {
        try files.createDirectory(at: place("full"), withIntermediateDirectories: false)
        try write("mine", to: "full/notes.txt")
        let error = #expect(throws: CocoaError.self) {
            try newCoordinator().addPersistentStore(type: .sqlite, at: place("full"))
        }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(error?.localizedDescription.contains("notes.txt") == true)
        #expect(try names("full") == ["notes.txt"])
        try files.createDirectory(at: place("empty"), withIntermediateDirectories: false)
        try make("empty")
        #expect(try titles("empty") == ["old"])
        // One that is there may have company.
        try write("mine", to: "empty/notes.txt")
        #expect(try titles("empty") == ["old"])
    }

    @Test func destroyingLeavesWhatIsNotTheStores() throws {
        try make("store")
        try write("mine", to: "store/notes.txt")
        try files.createDirectory(at: place("store/00000099.tmp"), withIntermediateDirectories: false)
        try write("deep", to: "store/00000099.tmp/inner")
        let error = #expect(throws: CocoaError.self) {
            try newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite)
        }
        #expect(error?.localizedDescription.contains("notes.txt") == true)
        #expect(try names("store") == ["00000099.tmp", "notes.txt"])
        #expect(try text("store/notes.txt") == "mine")
        #expect(try text("store/00000099.tmp/inner") == "deep")
    }

    @Test func destroyingNoStoreChangesNothing() throws {
        try files.createDirectory(at: place("full"), withIntermediateDirectories: false)
        try write("mine", to: "full/notes.txt")
        #expect(throws: CocoaError.self) {
            try newCoordinator().destroyPersistentStore(
                at: place("full"), type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
        }
        #expect(try names("full") == ["notes.txt"])
        try files.createDirectory(at: place("empty"), withIntermediateDirectories: false)
        try newCoordinator().destroyPersistentStore(at: place("empty"), type: .sqlite)
        #expect(try names("empty") == [])
        for type in [NSPersistentStore.StoreType.binary, .xml, .inMemory] {
            try newCoordinator().destroyPersistentStore(at: place("nothing"), type: type)
        }
        #expect(try allNames() == ["empty", "full"])
    }

    /// Programs remove what a destroyed store leaves, without asking whether there was one.
    @Test func destroyingNoStoreLeavesWhatAnyDestroyedStoreLeaves() throws {
        try newCoordinator().destroyPersistentStore(at: place("none"), type: .sqlite)
        #expect(try allNames() == Self.suffixes.map { "none" + $0 }.sorted())
        let mode = try files.attributesOfItem(atPath: place("none").path)[.posixPermissions] as? NSNumber
        #expect(try names("none") == [] && mode == 0o700)
        // A store is made there, destroyed once more, and gone with the rest.
        try make("none", title: "new")
        #expect(try titles("none") == ["new"])
        for _ in 0..<2 { try newCoordinator().destroyPersistentStore(at: place("none"), type: .sqlite) }
        for suffix in Self.suffixes { try files.removeItem(at: place("none" + suffix)) }
        #expect(try allNames() == [])
    }

    @Test func whatCannotBeLeftIsAnError() throws {
        let coordinator = newCoordinator()
        let error = #expect(throws: CocoaError.self) {
            try coordinator.destroyPersistentStore(at: place(String(repeating: "n", count: 300)), type: .sqlite)
        }
        #expect(error != nil)
        #expect(try allNames() == [])
    }

    @Test func destroyingWhereNoStoreCanBeThrows() throws {
        for url in [place("nowhere/nothing"), URL(fileURLWithPath: "/dev/null"), URL(fileURLWithPath: "/dev/null/a/b")]
        {
            let error = #expect(throws: CocoaError.self) {
                try newCoordinator().destroyPersistentStore(at: url, type: .sqlite)
            }
            #expect(error?.code == .fileNoSuchFile && error?.localizedDescription.contains(url.path) == true)
        }
        for path in ["/dev/null", "/dev/null/a"] {
            for type in [NSPersistentStore.StoreType.inMemory, .binary, .xml] {
                try newCoordinator().destroyPersistentStore(at: URL(fileURLWithPath: path), type: type)
            }
        }
        #expect(try names("") == [])
    }

    @Test func replacingRefusesADirectoryWithOtherFiles() throws {
        try make("source", title: "new")
        try make("store")
        try write("mine", to: "store/notes.txt")
        #expect(throws: CocoaError.self) {
            try newCoordinator().replacePersistentStore(
                at: place("store"), withPersistentStoreFrom: place("source"), type: .sqlite)
        }
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: .sqlite, at: place("source"))
        #expect(throws: CocoaError.self) {
            try coordinator.migratePersistentStore(store, to: place("store"), type: .sqlite)
        }
        #expect(coordinator.persistentStores == [store])
        #expect(try titles("store") == ["old"])
        #expect(try text("store/notes.txt") == "mine")
        #expect(try names("") == ["source", "store"])
    }

    @Test func destroyedStoresLeaveAnEmptyDirectoryThatTakesANewOne() throws {
        try make("store")
        try newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite)
        #expect(try names("store") == [])
        try make("store", title: "again")
        #expect(try titles("store") == ["again"])
        try newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite)
        try files.removeItem(at: place("store"))
        #expect(try names("") == [])
    }

    // MARK: SQLite's files

    private static let suffixes = ["", "-wal", "-shm"]

    /// Clients of SQLite's files remove all three of them, without asking whether they are there.
    @Test func storesAreRemovedWithSQLitesFiles() throws {
        for destroys in [false, true] {
            try make("store")
            #expect(try allNames() == ["store", "store-shm", "store-wal"])
            if destroys { try newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite) }
            for suffix in Self.suffixes { try files.removeItem(at: place("store" + suffix)) }
            #expect(try allNames() == [])
        }
        // Removed from under an open store they are missed by nobody, and are there again when it is opened.
        try make("store")
        for suffix in Self.suffixes.dropFirst() { try files.removeItem(at: place("store" + suffix)) }
        #expect(try titles("store") == ["old"])
        #expect(try allNames() == ["store", "store-shm", "store-wal"])
    }

    @Test func storesAreCopiedAndMovedWithSQLitesFiles() throws {
        try make("store")
        for suffix in Self.suffixes { try files.copyItem(at: place("store" + suffix), to: place("copy" + suffix)) }
        for suffix in Self.suffixes { try files.moveItem(at: place("store" + suffix), to: place("moved" + suffix)) }
        #expect(try titles("copy") == ["old"] && titles("moved") == ["old"])
        for name in ["copy", "moved"] {
            for suffix in Self.suffixes { try files.removeItem(at: place(name + suffix)) }
        }
        #expect(try allNames() == [])
    }

    @Test func replacedAndMigratedStoresHaveThem() throws {
        try make("source")
        try newCoordinator().replacePersistentStore(
            at: place("replaced"), withPersistentStoreFrom: place("source"), type: .sqlite)
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: .sqlite, at: place("source"))
        let migrated = try coordinator.migratePersistentStore(store, to: place("migrated"), type: .sqlite)
        try coordinator.remove(migrated)
        for name in ["source", "replaced", "migrated"] {
            for suffix in Self.suffixes { try files.removeItem(at: place(name + suffix)) }
        }
        #expect(try allNames() == [])
    }

    @Test func whatHasSQLitesNamesStaysAsItIs() throws {
        try write("mine", to: "store-wal")
        try write("precious", to: "precious")
        try files.createSymbolicLink(at: place("store-shm"), withDestinationURL: place("precious"))
        try make("store")
        try files.createSymbolicLink(at: place("other-wal"), withDestinationURL: place("nothing"))
        try make("other")
        for name in ["store", "other"] {
            #expect(try titles(name) == ["old"])
            try newCoordinator().replacePersistentStore(
                at: place(name), withPersistentStoreFrom: place("other"), type: .sqlite)
            try newCoordinator().destroyPersistentStore(at: place(name), type: .sqlite)
        }
        #expect(try text("store-wal") == "mine" && text("precious") == "precious")
        #expect(
            try allNames() == ["other", "other-shm", "other-wal", "precious", "store", "store-shm", "store-wal"])
    }

    /// Where SQLite would have no such files, there are none.
    @Test func otherStoresHaveNoSQLiteFiles() throws {
        for type in [NSPersistentStore.StoreType.binary, .xml] { try make(type.rawValue, type) }
        try make("store")
        for suffix in Self.suffixes.dropFirst() { try files.removeItem(at: place("store" + suffix)) }
        let coordinator = newCoordinator()
        try coordinator.addPersistentStore(
            type: .sqlite, at: place("store"), options: [NSReadOnlyPersistentStoreOption: true])
        try coordinator.addPersistentStore(type: .inMemory, at: place("memory"))
        try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
        try files.createDirectory(at: place("full"), withIntermediateDirectories: false)
        try write("mine", to: "full/notes.txt")
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: place("full")) }
        #expect(try allNames() == [NSBinaryStoreType, NSXMLStoreType, "full", "store"].sorted())
        #expect(!files.fileExists(atPath: "/dev/null-wal") && !files.fileExists(atPath: "/dev/null-shm"))
    }

    // MARK: Links

    @Test(arguments: ["strata-new", "strata-copy", "strata-old"])
    func linksBesideTheStoreAreNotFollowed(suffix: String) throws {
        try files.createDirectory(at: place("precious"), withIntermediateDirectories: false)
        try write("mine", to: "precious/00000001.seg")
        try make("store")
        try files.createSymbolicLink(at: place("store.\(suffix)"), withDestinationURL: place("precious"))
        #expect(try titles("store") == ["old"])
        try? newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite)
        #expect(try text("precious/00000001.seg") == "mine")
        #expect(try names("").contains("store.\(suffix)"))
    }

    @Test func linksInsideTheStoreAreNotFollowed() throws {
        try files.createDirectory(at: place("precious"), withIntermediateDirectories: false)
        try write("mine", to: "precious/data")
        try make("store")
        try files.createSymbolicLink(at: place("store/link"), withDestinationURL: place("precious"))
        try files.createSymbolicLink(at: place("store/00000001.tmp"), withDestinationURL: place("precious/data"))
        #expect(try titles("store") == ["old"])
        try? newCoordinator().destroyPersistentStore(at: place("store"), type: .sqlite)
        #expect(try text("precious/data") == "mine")
        #expect(try names("store") == ["00000001.tmp", "link"])
    }

    @Test func aLinkAsTheStoresPathLeadsToIt() throws {
        try files.createDirectory(at: place("elsewhere"), withIntermediateDirectories: false)
        try make("elsewhere/store")
        try make("source", title: "new")
        try files.createSymbolicLink(at: place("link"), withDestinationURL: place("elsewhere/store"))
        try newCoordinator().replacePersistentStore(
            at: place("link"), withPersistentStoreFrom: place("source"), type: .sqlite)
        #expect(try files.destinationOfSymbolicLink(atPath: place("link").path) == place("elsewhere/store").path)
        #expect(try titles("elsewhere/store") == ["new"])
        #expect(try names("elsewhere") == ["store"])
        try newCoordinator().destroyPersistentStore(at: place("link"), type: .sqlite)
        #expect(try names("elsewhere/store") == [])
        #expect(try names("") == ["elsewhere", "link", "source"])
    }

    @Test func aLinkThatLeadsNowhereIsCalledThat() throws {
        try files.createSymbolicLink(at: place("link"), withDestinationURL: place("nothing"))
        for readOnly in [true, false] {
            let error = #expect(throws: CocoaError.self) {
                try newCoordinator().addPersistentStore(
                    type: .sqlite, at: place("link"), options: [NSReadOnlyPersistentStoreOption: readOnly])
            }
            #expect(error?.code == .fileReadNoSuchFile)
            #expect(error?.localizedDescription.contains("symbolic link") == true)
        }
        #expect(throws: CocoaError.self) {
            try newCoordinator().destroyPersistentStore(at: place("link"), type: .sqlite)
        }
        #expect(try names("") == ["link"])
    }

    /// It was refused with the system's words only, and a lock file stayed.
    @Test(arguments: ["00000001.seg", "LOCK", "MANIFEST"])
    func aLinkInTheNameOfAStoresFileIsCalledThat(name: String) throws {
        try files.createDirectory(at: place("store"), withIntermediateDirectories: false)
        try write("mine", to: "precious")
        try files.createSymbolicLink(at: place("store/\(name)"), withDestinationURL: place("precious"))
        let error = #expect(throws: CocoaError.self) {
            try newCoordinator().addPersistentStore(type: .sqlite, at: place("store"))
        }
        if name != "MANIFEST" {
            #expect(error?.code == .fileReadCorruptFile)
            #expect(error?.localizedDescription.contains("symbolic link") == true)
        }
        #expect(try names("store") == [name])
        #expect(try text("precious") == "mine")
    }

    @Test func aSegmentThatIsALinkIsNotTakenForDamage() throws {
        try make("store")
        try files.moveItem(at: place("store/00000001.seg"), to: place("moved.seg"))
        try files.createSymbolicLink(at: place("store/00000001.seg"), withDestinationURL: place("moved.seg"))
        let before = try names("store")
        #expect(throws: CocoaError.self) { try titles("store") }
        #expect(try names("store") == before)
        let coordinator = newCoordinator()
        #expect(throws: CocoaError.self) { try coordinator.destroyPersistentStore(at: place("store"), type: .sqlite) }
        #expect(try names("store") == before)
        // Asked to, it removes what is the store's.
        try coordinator.destroyPersistentStore(
            at: place("store"), type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
        #expect(try names("store") == ["00000001.seg"])
        #expect(files.fileExists(atPath: place("moved.seg").path))
    }

    // MARK: Directories

    private func load(_ url: URL, readOnly: Bool = false) throws -> (any Error)? {
        let container = NSPersistentContainer(name: "Foreign", managedObjectModel: GraphModel.company())
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = readOnly
        container.persistentStoreDescriptions = [description]
        var outcomes: [(any Error)?] = []
        container.loadPersistentStores { outcomes.append($1) }
        #expect(outcomes.count == 1)
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        return outcomes.first ?? nil
    }

    /// What kept the directory from being made was left out: there was no such file, it said.
    @Test func aDirectoryThatCannotBeMadeIsNamedWithTheCause() throws {
        #expect(try load(place("a/b/store")) == nil)
        try write("mine", to: "file")
        let failure = try #require(try load(place("file/c/store")) as? CocoaError)
        #expect(failure.localizedDescription.contains(place("file/c").path))
        #expect(failure.userInfo[NSFilePathErrorKey] as? String == place("file/c").path)
        #expect(failure.userInfo[NSUnderlyingErrorKey] is NSError)
        #expect(!failure.localizedDescription.contains("No such file"))
        #expect(try text("file") == "mine")
    }

    @Test func openingReadOnlyMakesNoDirectory() throws {
        let failure = try load(place("missing/store"), readOnly: true) as? CocoaError
        #expect(failure?.code == .fileReadNoSuchFile)
        #expect(try names("") == [])
    }

    // MARK: Files

    @Test(arguments: types) func whatIsNoRegularFileIsLeftAlone(type: NSPersistentStore.StoreType) throws {
        try make("source", type, title: "new")
        #expect(mkfifo(place("pipe").path, 0o600) == 0)
        for options in [[:], [NSPersistentStoreForceDestroyOption: true]] {
            #expect(throws: CocoaError.self) {
                try newCoordinator().destroyPersistentStore(at: place("pipe"), type: type, options: options)
            }
        }
        #expect(throws: CocoaError.self) {
            try newCoordinator().replacePersistentStore(
                at: place("pipe"), withPersistentStoreFrom: place("source"), type: type)
        }
        #expect(throws: CocoaError.self) { try newCoordinator().addPersistentStore(type: type, at: place("pipe")) }
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: type, at: place("source"))
        #expect(throws: CocoaError.self) {
            try coordinator.migratePersistentStore(store, to: place("pipe"), type: type)
        }
        var status = stat()
        #expect(lstat(place("pipe").path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        #expect(try names("") == ["pipe", "source"])
    }

    /// A device made for the purpose: what this must never do to the real one.
    @Test(arguments: types) func devicesAreLeftAlone(type: NSPersistentStore.StoreType) throws {
        // Only with the right to make one, as root has it.
        guard mknod(place("null").path, S_IFCHR | 0o600, dev_t(0x103)) == 0 else { return }
        try make("source", type)
        try? newCoordinator().destroyPersistentStore(at: place("null"), type: type)
        try? newCoordinator().replacePersistentStore(
            at: place("null"), withPersistentStoreFrom: place("source"), type: type)
        _ = try? newCoordinator().addPersistentStore(type: type, at: place("null"))
        var status = stat()
        #expect(lstat(place("null").path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        #expect(try names("") == ["null", "source"])
    }

    @Test(arguments: [NSPersistentStore.StoreType.binary, .xml])
    func filesThatAreNoStoresAreLeftAlone(type: NSPersistentStore.StoreType) throws {
        try make("source", type, title: "new")
        try write("mine", to: "letter")
        for options in [[:], [NSPersistentStoreForceDestroyOption: true]] {
            #expect(throws: CocoaError.self) {
                try newCoordinator().destroyPersistentStore(at: place("letter"), type: type, options: options)
            }
        }
        #expect(throws: CocoaError.self) {
            try newCoordinator().replacePersistentStore(
                at: place("letter"), withPersistentStoreFrom: place("source"), type: type)
        }
        #expect(try text("letter") == "mine")
        // Nor what is beside a store under the name of what it writes.
        try files.createSymbolicLink(at: place("source.strata-new"), withDestinationURL: place("letter"))
        #expect(throws: CocoaError.self) { try make("source", type, title: "newer") }
        #expect(try text("letter") == "mine")
        #expect(try titles("source", type) == ["new"])
    }

    @Test(arguments: [NSPersistentStore.StoreType.binary, .xml])
    func aLinkToAFileStaysOne(type: NSPersistentStore.StoreType) throws {
        try make("file", type)
        try files.createSymbolicLink(at: place("link"), withDestinationURL: place("file"))
        try make("link", type, title: "more")
        #expect(try files.destinationOfSymbolicLink(atPath: place("link").path) == place("file").path)
        #expect(Set(try titles("file", type)) == ["old", "more"])
        #expect(try names("") == ["file", "link"])
    }

    // MARK: Spellings

    @Test(arguments: types) func openStoresAreFoundInEverySpelling(type: NSPersistentStore.StoreType) throws {
        try make("store", type)
        try files.createSymbolicLink(at: place("link"), withDestinationURL: place("store"))
        try files.createDirectory(at: place("inner"), withIntermediateDirectories: false)
        let path = place("store").path
        let spellings = [
            path, path + "/", place("inner").path + "/../store", place("./store").path, place("link").path,
            "//" + path, Self.relative(path),
        ]
        for spelling in spellings {
            let url = URL(fileURLWithPath: spelling)
            let coordinator = newCoordinator()
            let store = try coordinator.addPersistentStore(type: type, at: place("store"))
            #expect(coordinator.persistentStore(for: url) === store, "\(spelling)")
            let other = newCoordinator()
            let spelled = try other.addPersistentStore(
                type: type, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            #expect(other.persistentStore(for: place("store")) === spelled, "\(spelling)")
            try other.remove(spelled)
            try coordinator.destroyPersistentStore(at: url, type: type)
            #expect(coordinator.persistentStores.isEmpty, "\(spelling)")
            try make("store", type)
        }
        #expect(newCoordinator().persistentStore(for: place("store")) == nil)
    }

    /// A path from the working directory.
    private static func relative(_ path: String) -> String {
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        return String(repeating: "../", count: depth) + path.dropFirst()
    }
}
