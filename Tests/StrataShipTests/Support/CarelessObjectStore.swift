import StrataObjectStore
import StrataTestKit

/// Overwrites whatever is there.
struct CarelessObjectStore: PassingObjectStore {
    let base = SimulatedObjectStore()
    /// Whether the first answer to each write is lost on the way, and its repetition is answered by 412, since the
    /// object is there by then.
    var losesAnswers = false

    func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        let info = try await base.put(key, bytes, digest: digest, if: .always)
        if losesAnswers, condition != .always { throw .preconditionFailed(key: key) }
        return info
    }

    func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await base.upload(key, from: source, digest: digest, if: .always)
    }
}
