import StrataObjectStore
import StrataTestKit

/// An object store that passes requests on to a simulated one. Who adopts it does something else with some of them.
protocol PassingObjectStore: ObjectStore {
    var base: SimulatedObjectStore { get }
}

extension PassingObjectStore {
    var description: String { "\(base), passed on" }

    func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        try await base.get(key, range: range)
    }

    func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo? { try await base.head(key) }

    func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await base.put(key, bytes, digest: digest, if: condition)
    }

    func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await base.upload(key, from: source, digest: digest, if: condition)
    }

    func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList {
        try await base.list(prefix: prefix, after: after, limit: limit)
    }

    func delete(_ keys: [String]) async throws(ObjectStoreError) { try await base.delete(keys) }
}
