import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import CoreData
@testable import Strata

/// Stores in one file, whose directory or file becomes another one while it is written, removed or replaced.
@Suite struct StoreFilePlaceTests {
    static let types = [NSBinaryStoreType, NSXMLStoreType]

    private static func model() -> NSManagedObjectModel {
        let note = GraphModel.entity("Note")
        note.properties = [GraphModel.attribute("text", .stringAttributeType)]
        return makeModel([note])
    }

    private static func open(_ url: URL, _ type: String) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    private static func add(_ text: String, to coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = context.insert("Note", ["text": text])
            try context.save()
        }
    }

    private static func texts(_ url: URL, _ type: String) throws -> [String] {
        let coordinator = try open(url, type)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let found = try context.performAndWait {
            try context.all("Note", sortedBy: "text").map { $0.text("text") ?? "" }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return found
    }

    private static func withDirectory(_ body: (URL) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("file-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url)
    }

    private static func text(_ url: URL, _ fileSystem: any FileSystem) throws -> String? {
        try StoreFile.read(url, in: fileSystem).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Another directory takes the place of the one that the file lies in, with a file of the same name.
    private static func swapDirectory(_ fileSystem: any FileSystem) throws {
        try fileSystem.rename("/in", to: "/aside")
        try fileSystem.createDirectory("/in")
        try StoreFile.write(Data("theirs".utf8), to: URL(fileURLWithPath: "/in/file"), in: fileSystem)
    }

    private static func withFile(_ body: (any FileSystem, URL) throws -> Void) throws {
        for fileSystem in [SimulatedFileSystem(), MemoryFileSystem()] as [any FileSystem] {
            let url = URL(fileURLWithPath: "/in/file")
            try fileSystem.createDirectory("/in")
            try StoreFile.write(Data("ours".utf8), to: url, in: fileSystem)
            try body(fileSystem, url)
        }
    }

    @Test func theFileOfAnotherDirectoryIsNotRemoved() throws {
        try Self.withFile { fileSystem, url throws in
            try StoreFile.remove(url, in: fileSystem, check: { _ in try Self.swapDirectory(fileSystem) })
            #expect(try Self.text(url, fileSystem) == "theirs")
            #expect(try fileSystem.list("/aside") == [])
        }
    }

    @Test func aFileThatTookThePlaceOfTheOneLookedAtIsNotRemoved() throws {
        try Self.withFile { fileSystem, url throws in
            #expect(throws: CocoaError.self) {
                try StoreFile.remove(
                    url, in: fileSystem,
                    check: { _ in try StoreFile.write(Data("theirs".utf8), to: url, in: fileSystem) })
            }
            #expect(try Self.text(url, fileSystem) == "theirs")
        }
    }

    /// The copy was made in the other directory, and took the place of the file there.
    @Test func theFileOfAnotherDirectoryIsNotReplaced() throws {
        try Self.withFile { fileSystem, url throws in
            #expect(throws: CocoaError.self) {
                try StoreFile.replace(url, in: fileSystem) { copy in
                    try Self.swapDirectory(fileSystem)
                    try StoreFile.write(Data("new".utf8), to: copy, in: fileSystem)
                    return true
                }
            }
            #expect(try Self.text(url, fileSystem) == "theirs")
            #expect(try fileSystem.list("/aside") == ["file"])
        }
    }

    @Test func aFileThatMovesAfterItsCopyWasMadeIsReplacedWhereItIs() throws {
        try Self.withFile { fileSystem, url throws in
            try StoreFile.replace(url, in: fileSystem) { copy in
                try StoreFile.write(Data("new".utf8), to: copy, in: fileSystem)
                try Self.swapDirectory(fileSystem)
                return true
            }
            #expect(try Self.text(url, fileSystem) == "theirs")
            #expect(try Self.text(URL(fileURLWithPath: "/aside/file"), fileSystem) == "new")
            #expect(try fileSystem.list("/aside") == ["file"])
        }
    }

    /// The names beside a store are ours only if their contents are.
    @Test(arguments: types, ["strata-copy", "strata-new", "strata-copy.strata-new"])
    func whatIsSomebodysBesideTheFileStays(_ type: String, _ suffix: String) throws {
        try Self.withDirectory { directory in
            let (url, beside) = (
                directory.appendingPathComponent("store"), directory.appendingPathComponent("store.\(suffix)")
            )
            let coordinator = try Self.open(url, type)
            try Data("a letter of somebody's".utf8).write(to: beside)
            try coordinator.destroyPersistentStore(at: url, ofType: type)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store.\(suffix)"])
            #expect(try String(contentsOf: beside, encoding: .utf8) == "a letter of somebody's")
        }
    }

    /// A save wrote over whatever had come to lie at the store's URL.
    @Test(arguments: types) func aSaveLeavesAnotherStoreAlone(_ type: String) throws {
        try Self.withDirectory { directory in
            let (url, aside) = (directory.appendingPathComponent("store"), directory.appendingPathComponent("aside"))
            let old = try Self.open(url, type)
            try Self.add("old", to: old)
            try FileManager.default.moveItem(at: url, to: aside)
            let new = try Self.open(url, type)
            try Self.add("new", to: new)
            let error = #expect(throws: CocoaError.self) { try Self.add("lost", to: old) }
            #expect("\(error as Any)".contains("not at its path"), "\(error as Any)")
            // Closing works, and touches nothing.
            for store in old.persistentStores { try old.remove(store) }
            #expect(try Self.texts(url, type) == ["new"])
            #expect(try Self.texts(aside, type) == ["old"])
            // Nor a file that is no store.
            try FileManager.default.removeItem(at: url)
            try Data("mine".utf8).write(to: url)
            #expect(throws: CocoaError.self) { try Self.add("lost", to: new) }
            #expect(try String(contentsOf: url, encoding: .utf8) == "mine")
        }
    }

    @Test(arguments: types) func aSaveGoesOnWhereTheSameStoreIs(_ type: String) throws {
        try Self.withDirectory { directory in
            let (url, moved) = (directory.appendingPathComponent("store"), directory.appendingPathComponent("moved"))
            let one = try Self.open(url, type)
            let two = try Self.open(url, type)
            try Self.add("one", to: one)
            // It knows nothing of the other's object, and writes what it has.
            try Self.add("two", to: two)
            #expect(try Self.texts(url, type) == ["two"])
            // Where the program says that it is.
            try FileManager.default.moveItem(at: url, to: moved)
            let store = try #require(two.persistentStores.first)
            #expect(two.setURL(moved, for: store))
            try Self.add("three", to: two)
            #expect(try Self.texts(moved, type) == ["three", "two"])
        }
    }
}
