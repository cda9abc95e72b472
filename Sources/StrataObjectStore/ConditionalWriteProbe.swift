/// Finds out whether a store keeps to the conditions of writes.
///
/// Servers that ignore them answer as if all was well, and two writers then overwrite each other's objects. Whoever
/// relies on ``PutCondition/absent`` or ``PutCondition/matching(_:)`` runs this once, before the first such write.
public enum ConditionalWriteProbe {
    /// Writes an object under a name of its own a few times, and removes it.
    ///
    /// Takes six requests. What is left of a probe that was cut short is one small object.
    ///
    /// - Parameter prefix: What the object's name begins with.
    /// - Throws: ``ObjectStoreError/unsupported(key:message:)`` if a write happened whose condition did not hold, or
    ///   did not happen although it held.
    public static func run(on store: some ObjectStore, prefix: String = "probe/") async throws(ObjectStoreError) {
        let key = prefix + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let error: ObjectStoreError?
        do throws(ObjectStoreError) {
            try await check(store, key: key)
            error = nil
        } catch let found {
            error = found
        }
        // Whoever may not remove objects is told by the first removal that matters.
        _ = try? await store.delete([key])
        if let error { throw error }
    }

    private static func check(_ store: some ObjectStore, key: String) async throws(ObjectStoreError) {
        let first = try await write(1, to: key, of: store, if: .absent)
        guard let first else {
            throw .unsupported(key: key, message: "it refuses to write an object that is not there")
        }
        if try await write(2, to: key, of: store, if: .absent) != nil {
            throw .unsupported(
                key: key,
                message: "it overwrites objects that are to be written only where there are none "
                    + "(If-None-Match: *)")
        }
        guard let second = try await write(3, to: key, of: store, if: .matching(first.tag)) else {
            throw .unsupported(key: key, message: "it refuses to replace the version that is there (If-Match)")
        }
        if second.tag == first.tag {
            throw .unsupported(key: key, message: "two versions of an object have the same tag")
        }
        if try await write(4, to: key, of: store, if: .matching(first.tag)) != nil {
            throw .unsupported(
                key: key, message: "it replaces versions other than the one that is to be replaced (If-Match)")
        }
        let found = try await store.get(key, range: nil)
        guard found.bytes == [3] else {
            throw .unsupported(key: key, message: "it does not read what was written last")
        }
    }

    /// Returns nil if the store says that the condition does not hold.
    private static func write(
        _ content: UInt8, to key: String, of store: some ObjectStore, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo? {
        do throws(ObjectStoreError) {
            return try await store.put(key, [content], digest: ObjectDigest(of: [content]), if: condition)
        } catch .preconditionFailed {
            return nil
        }
    }
}
