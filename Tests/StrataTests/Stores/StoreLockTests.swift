import Foundation
import StrataIO
import StrataLog
import SystemPackage
import Testing

@testable import Strata

/// A store that somebody else writes: the engine's own handle stands for another process here.
@Suite struct StoreLockTests {
    private func open(_ url: URL, _ options: [AnyHashable: Any]? = nil) -> CocoaError? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        do {
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            try coordinator.remove(store)
            return nil
        } catch {
            return error as? CocoaError
        }
    }

    @Test func anotherProcessKeepsTheStore() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-lock-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        #expect(open(url) == nil)
        let other = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), schema: nil)
        #expect(open(url)?.code == .persistentStoreOpen)
        let start = Date()
        #expect(open(url, [NSPersistentStoreTimeoutOption: 0.2])?.code == .persistentStoreTimeout)
        #expect(Date().timeIntervalSince(start) >= 0.2)
        // Reading is possible all the same.
        #expect(open(url, [NSReadOnlyPersistentStoreOption: true]) == nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        #expect(throws: CocoaError.self) { try coordinator.destroyPersistentStore(at: url, type: .sqlite) }
        #expect(FileManager.default.fileExists(atPath: url.path))
        try other.close()
        #expect(open(url) == nil)
    }

    @Test func waitingPaysWhenTheStoreIsGivenUp() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-lock-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        #expect(open(url) == nil)
        let other = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), schema: nil)
        let thread = Thread {
            Thread.sleep(forTimeInterval: 0.2)
            try? other.close()
        }
        thread.start()
        #expect(open(url, [NSPersistentStoreTimeoutOption: 60]) == nil)
    }
}
