import NIOHTTP1
public import StrataObjectStore

extension S3ObjectStore {
    public func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        guard bytes.count <= ObjectLimits.largestPut else {
            throw .unsupported(key: key, message: "\(bytes.count) bytes are too many for one request: upload them")
        }
        var request = S3Request(method: .PUT, key: try self.key(key), body: bytes, payload: digest.hexadecimal)
        request.headers = [(Self.digestHeader, digest.hexadecimal)] + Self.headers(of: condition)
        let answer: S3Answer
        do throws(ObjectStoreError) {
            answer = try await caller.call(request, name: key)
        } catch .unanswered(let key, let message) {
            // It may be there all the same.
            if let info = try? await head(key), info.digest == digest, info.size == bytes.count { return info }
            throw .unanswered(key: key, message: message)
        }
        return try await written(answer, key: key, size: Int64(bytes.count), digest: digest, condition: condition)
    }

    static func headers(of condition: PutCondition) -> [(name: String, value: String)] {
        switch condition {
        case .always: []
        case .absent: [("if-none-match", "*")]
        case .matching(let tag): [("if-match", tag)]
        }
    }

    /// What the answer to a write means.
    func written(
        _ answer: S3Answer, key: String, size: Int64, digest: ObjectDigest, condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        if answer.isSuccess {
            if let tag = answer.headers.first(name: "etag"), !tag.isEmpty {
                return ObjectInfo(key: key, size: size, tag: tag, digest: digest, modified: nil)
            }
            guard let info = try await head(key), info.digest == digest else {
                throw .damaged(key: key, message: "it was written, and is not there")
            }
            return info
        }
        let isGone = answer.status == 404 && answer.failure?.code != "NoSuchBucket" && condition != .always
        guard answer.status == 412 || isGone else {
            guard answer.followsUnanswered else { throw error(answer, key: key) }
            if let info = try? await head(key), info.digest == digest, info.size == size { return info }
            throw .unanswered(key: key, message: answer.summary)
        }
        // An earlier try may have written what stands in the way.
        if answer.followsUnanswered, let info = try await head(key), info.digest == digest, info.size == size {
            return info
        }
        throw .preconditionFailed(key: key)
    }
}
