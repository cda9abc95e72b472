import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

/// The stores of this package, held to what servers are held to in StrataS3Tests.
@Suite struct ObjectStoreConformanceTests {
    @Test(arguments: ObjectStoreConformance.Check.allCases)
    func simulatedStoresPass(_ check: ObjectStoreConformance.Check) async throws {
        try await ObjectStoreConformance(SimulatedObjectStore(), folder: "conformance/").run(check)
    }

    @Test(arguments: ObjectStoreConformance.Check.allCases)
    func directoriesPass(_ check: ObjectStoreConformance.Check) async throws {
        let path = NSTemporaryDirectory() + "strata-objects-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try DirectoryObjectStore(FilePath(path))
        try await ObjectStoreConformance(store, folder: "conformance/", traits: [.byteOrder, .matchingUploads]).run(check)
    }

    @Test func bothPassTheProbe() async throws {
        try await ConditionalWriteProbe.run(on: SimulatedObjectStore())
    }
}
