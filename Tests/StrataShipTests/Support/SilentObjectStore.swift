import StrataObjectStore
import StrataTestKit
import Synchronization

/// Answers no write until it is cancelled, once told to.
struct SilentObjectStore: PassingObjectStore {
    let base = SimulatedObjectStore()
    let isSilent = Flag()

    final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        if isSilent.isSet {
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
            throw .cancelled
        }
        return try await base.put(key, bytes, digest: digest, if: condition)
    }
}
