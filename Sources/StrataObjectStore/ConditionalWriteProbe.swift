/// Finds out whether a store keeps to the conditions of writes.
///
/// Servers that ignore them answer as if all was well, and two writers then overwrite each other's objects. Whoever
/// relies on ``PutCondition/absent`` or ``PutCondition/matching(_:)`` runs this once, before the first such write.
public enum ConditionalWriteProbe {
    /// Writes an object under a name of its own a few times, and removes it.
    ///
    /// Takes six requests, more where answers are lost. What is left of a probe that was cut short is one small object.
    ///
    /// - Parameter prefix: What the object's name begins with.
    /// - Throws: ``ObjectStoreError/unsupported(key:message:)`` if a write happened whose condition did not hold, or
    ///   did not happen although it held; other errors where it could not be found out.
    public static func run(on store: some ObjectStore, prefix: String = "probe/") async throws(ObjectStoreError) {
        if let found = try await violation(on: store, prefix: prefix) {
            throw .unsupported(key: found.key, message: found.message)
        }
    }

    /// As ``run(on:prefix:)``, but returns what is wrong with the store, to be told from what it refuses to do at all.
    package static func violation(
        on store: some ObjectStore, prefix: String
    ) async throws(ObjectStoreError) -> (key: String, message: String)? {
        let key = prefix + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let result: Result<String?, ObjectStoreError>
        do throws(ObjectStoreError) {
            result = .success(try await violation(on: store, key: key))
        } catch {
            result = .failure(error)
        }
        // Whoever may not remove objects is told by the first removal that matters.
        _ = try? await store.delete([key])
        return try result.get().map { (key, $0) }
    }

    private static func violation(
        on store: some ObjectStore, key: String
    ) async throws(ObjectStoreError) -> String? {
        guard let first = try await write(1, to: key, of: store, if: .absent) else {
            return "it refuses to write an object that is not there"
        }
        if try await write(2, to: key, of: store, if: .absent) != nil {
            return "it overwrites objects that are to be written only where there are none (If-None-Match: *)"
        }
        guard let second = try await write(3, to: key, of: store, if: .matching(first)) else {
            return "it refuses to replace the version that is there (If-Match)"
        }
        if second == first { return "two versions of an object have the same tag" }
        if try await write(4, to: key, of: store, if: .matching(first)) != nil {
            return "it replaces versions other than the one that is to be replaced (If-Match)"
        }
        return try await read(key, of: store)?.content == 3 ? nil : "it does not read what was written last"
    }

    /// Returns the tag of what was written, or nil if the write was refused because of its condition.
    ///
    /// The answer alone proves nothing. A write that was carried out, of which the answer was lost on the way, is
    /// refused when it is sent again, and may be so by a store that keeps to no conditions. What lies in the store
    /// afterwards decides: each write has other bytes.
    private static func write(
        _ content: UInt8, to key: String, of store: some ObjectStore, if condition: PutCondition
    ) async throws(ObjectStoreError) -> String? {
        do throws(ObjectStoreError) {
            return try await store.put(key, [content], digest: ObjectDigest(of: [content]), if: condition).tag
        } catch {
            let isRefused: Bool
            switch error {
            case .preconditionFailed: isRefused = true
            case .unanswered: isRefused = false
            default: throw error
            }
            let found = try await read(key, of: store)
            if let found, found.content == content { return found.tag }
            // Without an answer nobody knows whether it was refused or lost.
            guard isRefused else { throw error }
            return nil
        }
    }

    private static let readAttempts = 3

    /// The object's one byte and tag; nil where there is none.
    private static func read(
        _ key: String, of store: some ObjectStore
    ) async throws(ObjectStoreError) -> (content: UInt8, tag: String)? {
        for _ in 0..<readAttempts {
            do throws(ObjectStoreError) {
                let found = try await store.get(key, range: nil)
                // Anything else was damaged on its way.
                if found.bytes.count == 1, (1...4).contains(found.bytes[0]),
                    found.info.digest.map({ $0 == ObjectDigest(of: found.bytes) }) ?? true
                {
                    return (found.bytes[0], found.info.tag)
                }
            } catch .notFound {
                return nil
            } catch {
                throw error
            }
        }
        throw .damaged(key: key, message: "it arrives damaged again and again")
    }
}
