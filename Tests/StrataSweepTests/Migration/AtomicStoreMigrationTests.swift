import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import CoreData
@testable import Strata

/// Stores in one file that are opened with a newer model.
@Suite struct AtomicStoreMigrationTests {
    private typealias G = GraphModel

    /// Owners with pets in an order, and toys.
    private static func first() -> NSManagedObjectModel {
        let (owner, pet, toy) = (G.entity("Owner"), G.entity("Pet"), G.entity("Toy"))
        let pets = G.relationship("pets", to: pet, toMany: true, ordered: true)
        let ownerOf = G.relationship("owner", to: owner)
        G.link(pets, ownerOf)
        owner.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType), pets,
        ]
        pet.properties = [G.attribute("name", .stringAttributeType), ownerOf]
        toy.properties = [G.attribute("kind", .stringAttributeType)]
        return makeModel([owner, pet, toy])
    }

    /// Toys are gone, names of owners are labels, and there is a kind of pet.
    private static func second(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let (owner, pet) = (G.entity("Owner"), G.entity("Pet"))
        let pets = G.relationship("pets", to: pet, toMany: true, ordered: true)
        let ownerOf = G.relationship("owner", to: owner)
        G.link(pets, ownerOf)
        owner.properties = [
            G.attribute("label", .stringAttributeType).renamed(from: "name"),
            G.attribute("age", .integer16AttributeType), pets,
        ]
        pet.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("kind", .stringAttributeType, default: "cat"),
            ownerOf,
        ]
        change(owner)
        return makeModel([owner, pet])
    }

    private static func filled(_ type: String) throws -> MigratedStore {
        let store = try MigratedStore(type)
        try store.with(first()) { context throws in
            for index in 0..<20 {
                let owner = context.insert("Owner", ["name": "o\(index)", "age": index % 3 == 0 ? nil : index])
                let pets = (0..<3).map { context.insert("Pet", ["name": "p\(index).\(2 - $0)"]) }
                owner.setValue(NSOrderedSet(array: pets), forKey: "pets")
                _ = context.insert("Toy", ["kind": "t\(index)"])
            }
            context.persistentStoreCoordinator?.persistentStores[0].metadata["mine"] = "kept"
            try context.save()
        }
        return store
    }

    private static func names(_ store: MigratedStore) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store.directory.path).sorted()
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func fileStoresAreMigratedWhenTheyAreOpened(_ type: String) throws {
        let store = try Self.filled(type)
        // What a process that died in the middle of it has left.
        for name in ["store.strata-copy", "store.strata-new", "store.strata-copy.strata-new"] {
            try Data("bplist00".utf8).write(to: store.directory.appendingPathComponent(name))
        }
        for options in [MigratedStore.automatic, [:]] {
            try store.with(Self.second(), options) { context throws in
                let owners = try context.all("Owner", sortedBy: "label")
                #expect(owners.count == 20)
                for owner in owners {
                    let index = try #require(owner.text("label")?.dropFirst())
                    #expect(owner.value(forKey: "age") as? Int == (Int(index)! % 3 == 0 ? nil : Int(index)!))
                    let pets = try #require(owner.value(forKey: "pets") as? NSOrderedSet)
                    let found = pets.array.compactMap { ($0 as? NSManagedObject)?.text("name") }
                    #expect(found == ["p\(index).2", "p\(index).1", "p\(index).0"])
                }
                #expect(try context.all("Pet", "kind == 'cat'").count == 60)
                let metadata = context.persistentStoreCoordinator?.persistentStores[0].metadata
                #expect(metadata?["mine"] as? String == "kept")
                #expect(metadata?[NSStoreTypeKey] as? String == type)
            }
        }
        #expect(try Self.names(store) == ["store"])
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func whatMayNotOrCannotBeMigratedSaysWhyAndTheFileStays(_ type: String) throws {
        let store = try Self.filled(type)
        let before = try Data(contentsOf: store.url)
        func check(
            _ model: NSManagedObjectModel, _ options: [AnyHashable: Any], _ code: Int, _ text: String,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            let failure = try #require(store.failure(model, options), sourceLocation: location)
            #expect(failure.code == code, sourceLocation: location)
            #expect(failure.text.contains(text), "\(failure.text)", sourceLocation: location)
            #expect(try Data(contentsOf: store.url) == before, sourceLocation: location)
            #expect(try Self.names(store) == ["store"], sourceLocation: location)
        }
        try check(Self.second(), [:], 134_100, "Toy")
        let readOnly = MigratedStore.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        try check(Self.second(), readOnly, 134_100, "read-only")
        try check(Self.second(), [NSMigratePersistentStoresAutomaticallyOption: true], 134_140, "no mapping model")
        let typed = Self.second { owner in
            (owner.propertiesByName["age"] as? NSAttributeDescription)?.attributeType = .stringAttributeType
        }
        try check(typed, MigratedStore.automatic, 134_140, "age")
        // Found when all objects have been made.
        let mandatory = Self.second { $0.properties.append(G.attribute("id", .stringAttributeType, optional: false)) }
        try check(mandatory, MigratedStore.automatic, 1_570, "id")
        let other = NSPersistentStoreCoordinator(managedObjectModel: Self.first())
        let open = try other.addPersistentStore(ofType: type, configurationName: nil, at: store.url)
        try check(Self.second(), MigratedStore.automatic, 134_100, "Another coordinator")
        try other.remove(open)
        #expect(store.failure(Self.second()) == nil)
    }

    /// A store of the program's own does not say its model, so it has to be in a bundle.
    @Test func aStoreWithoutItsModelIsNotMigrated() throws {
        let store = try Self.filled(NSBinaryStoreType)
        var list = try #require(
            PropertyListSerialization.propertyList(from: Data(contentsOf: store.url), format: nil) as? [String: Any])
        list["model"] = nil
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: store.url)
        #expect(store.failure(Self.second())?.code == 134_130)
        list["model"] = Data([1, 2, 3])
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: store.url)
        #expect(store.failure(Self.second())?.code == 259)
    }

    /// Objects were copied into a store of all entities, which then could not be opened with the configuration.
    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType])
    func aConfigurationsStoreKeepsItsEntities(_ type: String) throws {
        func model(_ isNew: Bool) -> NSManagedObjectModel {
            let (owner, toy) = (G.entity("Owner"), G.entity("Toy"))
            owner.properties = [G.attribute("name", .stringAttributeType)]
            if isNew {
                // So long that a log store copies its objects, too.
                let text = String(repeating: "x", count: 5_000)
                owner.properties.append(G.attribute("text", .stringAttributeType, default: text))
            }
            toy.properties = [G.attribute("kind", .stringAttributeType)]
            let model = makeModel([owner, toy])
            model.setEntities([owner], forConfigurationName: "Owners")
            return model
        }
        let store = try MigratedStore(type, configuration: "Owners")
        try store.with(model(false)) { context throws in
            _ = context.insert("Owner", ["name": "a"])
            try context.save()
        }
        try store.with(model(true)) { context throws in
            let owner = try #require(context.all("Owner").first)
            #expect(owner.text("name") == "a" && owner.text("text")?.count == 5_000)
            let metadata = context.persistentStoreCoordinator?.persistentStores[0].metadata
            let hashes = metadata?[NSStoreModelVersionHashesKey] as? [String: Data]
            #expect(hashes?.keys.sorted() == ["Owner"])
        }
    }
}

/// A file that takes another one's place.
@Suite struct StoreFileReplacementTests {
    private func text(_ url: URL, _ fileSystem: SimulatedFileSystem) throws -> String? {
        try StoreFile.read(url, in: fileSystem).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aCrashLeavesTheOldFileOrTheNewOne() throws {
        let url = URL(fileURLWithPath: "/file")
        let base = SimulatedFileSystem()
        try StoreFile.write(Data("old contents".utf8), to: url, in: base)
        func replace(_ fileSystem: SimulatedFileSystem, _ text: String) throws {
            try StoreFile.replace(url, in: fileSystem) { copy in
                try StoreFile.write(Data("half".utf8), to: copy, in: fileSystem)
                try StoreFile.write(Data(text.utf8), to: copy, in: fileSystem)
                return true
            }
        }
        for operation in 0..<30 {
            let crashing = base.fork()
            crashing.crash(atOperation: crashing.trace.operations.count + operation)
            let isDone = (try? replace(crashing, "new")) != nil
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                let image = crashing.crashImage(policy: policy, seed: UInt64(operation))
                let found = try text(url, image)
                #expect(found == "new" || found == "old contents" && !isDone, "operation \(operation), \(policy)")
                try replace(image, "newest")
                #expect(try text(url, image) == "newest")
                #expect(try image.list("/") == ["file"])
            }
        }
    }

    /// What could not be written to its end goes, and the file stays as it was.
    @Test func aFileThatCannotBeWrittenLeavesNothingBeside() throws {
        let url = URL(fileURLWithPath: "/file")
        let fileSystem = SimulatedFileSystem()
        try StoreFile.write(Data("old".utf8), to: url, in: fileSystem)
        for call in [SimulatedFileSystem.Call.write, .sync, .rename] {
            fileSystem.inject(.init(.fail(.noSpace), of: call))
            #expect(throws: (any Error).self) { try StoreFile.write(Data("new".utf8), to: url, in: fileSystem) }
            #expect(try fileSystem.list("/") == ["file"], "\(call)")
            #expect(try text(url, fileSystem) == "old", "\(call)")
        }
    }

    /// Whoever makes the new file need not flush it: the name of a file without contents took the old one's place.
    @Test func aReplacementIsFlushedBeforeItGetsTheName() throws {
        let url = URL(fileURLWithPath: "/file")
        let fileSystem = SimulatedFileSystem()
        try StoreFile.write(Data("old".utf8), to: url, in: fileSystem)
        try StoreFile.replace(url, in: fileSystem) { copy in
            let file = try fileSystem.open(FilePath(copy.path), .create)
            try Array("new".utf8).withUnsafeBytes { try file.writeAll([$0], at: 0) }
            try file.close()
            return true
        }
        for seed in 0..<20 as Range<UInt64> {
            #expect(try text(url, fileSystem.crashImage(policy: .strict, seed: seed)) == "new", "seed \(seed)")
            #expect(try text(url, fileSystem.crashImage(policy: .evil, seed: seed)) == "new", "seed \(seed)")
        }
    }

    @Test func aRemovedFileDoesNotComeBackAfterACrash() throws {
        let url = URL(fileURLWithPath: "/file")
        let fileSystem = SimulatedFileSystem()
        try StoreFile.write(Data("old".utf8), to: url, in: fileSystem)
        try StoreFile.remove(url, in: fileSystem)
        for seed in 0..<20 as Range<UInt64> {
            #expect(try text(url, fileSystem.crashImage(policy: .strict, seed: seed)) == nil, "seed \(seed)")
        }
    }

    @Test func nothingIsReplacedByWhatFailsOrIsNotWanted() throws {
        let url = URL(fileURLWithPath: "/file")
        let fileSystem = SimulatedFileSystem()
        #expect(throws: CocoaError.self) { try StoreFile.replace(url, in: fileSystem) { _ in true } }
        try StoreFile.write(Data("old".utf8), to: url, in: fileSystem)
        #expect(throws: CancellationError.self) {
            try StoreFile.replace(url, in: fileSystem) { copy in
                try StoreFile.write(Data("new".utf8), to: copy, in: fileSystem)
                throw CancellationError()
            }
        }
        try StoreFile.replace(url, in: fileSystem) { _ in
            // Nobody else writes it meanwhile.
            #expect(throws: CocoaError.self) { try StoreFile.write(Data("other".utf8), to: url, in: fileSystem) }
            return false
        }
        #expect(try text(url, fileSystem) == "old")
        #expect(try fileSystem.list("/") == ["file"])
    }
}
