import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

/// The stores that need no server keep to what every store is held to.
@Suite struct ConformanceTests {
    // It does not read a whole file for the digest of a part; DirectoryObjectStoreTests has its ranges.
    @Test(arguments: ObjectStoreConformance.Check.allCases.filter { $0 != .ranges })
    func aDirectory(_ check: ObjectStoreConformance.Check) async throws {
        let folder = DirectoryObjectStoreTests.Folder()
        // An object cannot have the name of a folder.
        let suite = ObjectStoreConformance(try folder.open(), folder: "c/", traits: [.byteOrder, .matchingUploads])
        try await suite.run(check)
    }

    @Test(arguments: ObjectStoreConformance.Check.allCases)
    func aSimulatedBucket(_ check: ObjectStoreConformance.Check) async throws {
        try await ObjectStoreConformance(SimulatedObjectStore(), folder: "c/").run(check)
    }

    @Test func bothKeepConditions() async throws {
        let folder = DirectoryObjectStoreTests.Folder()
        try await ConditionalWriteProbe.run(on: try folder.open())
        try await ConditionalWriteProbe.run(on: SimulatedObjectStore())
    }
}
