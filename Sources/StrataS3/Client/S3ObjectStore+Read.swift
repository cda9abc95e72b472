import Crypto
import NIOHTTP1
public import StrataObjectStore

extension S3ObjectStore {
    public func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        var request = S3Request(method: .GET, key: try self.key(key), largestAnswer: Int.max)
        if let range {
            guard range.lowerBound >= 0 else { throw .unsupported(key: key, message: "a range begins before 0") }
            // HTTP has no way to ask for no byte.
            guard !range.isEmpty else { return try await nothing(of: key, at: range.lowerBound) }
            request.headers.append(("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
            // Errors have bodies, too.
            request.largestAnswer = max(1 << 20, Int(clamping: range.count))
        }
        let answer = try await caller.call(request, name: key)
        switch answer.status {
        case 200:
            let info = try info(of: answer, key: key, size: Int64(answer.body.count))
            guard let range else { return try whole(answer.body, info: info) }
            // The server does not know ranges, and the object is short.
            guard range.lowerBound < info.size else { throw .rangeNotSatisfiable(key: key, size: info.size) }
            let checked = try whole(answer.body, info: info)
            return ObjectContents(
                bytes: Array(checked.bytes[Int(range.lowerBound)..<Int(min(range.upperBound, info.size))]), info: info)
        case 206:
            guard let range else { throw error(answer, key: key) }
            return try part(answer, range: range, key: key)
        case 416:
            if let text = answer.headers.first(name: "content-range"), text.hasPrefix("bytes */"),
                let size = Int64(text.dropFirst(8))
            {
                throw .rangeNotSatisfiable(key: key, size: size)
            }
            guard let info = try await head(key) else { throw .notFound(key: key) }
            throw .rangeNotSatisfiable(key: key, size: info.size)
        default:
            throw error(answer, key: key)
        }
    }

    public func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo? {
        let answer = try await caller.call(S3Request(method: .HEAD, key: try self.key(key)), name: key)
        switch answer.status {
        case 200:
            guard let size = answer.headers.first(name: "content-length").flatMap(Int64.init), size >= 0 else {
                throw .damaged(key: key, message: "the server does not say how long the object is")
            }
            return try info(of: answer, key: key, size: size)
        case 404:
            return nil
        default:
            throw error(answer, key: key)
        }
    }

    private func nothing(of key: String, at offset: Int64) async throws(ObjectStoreError) -> ObjectContents {
        guard let info = try await head(key) else { throw .notFound(key: key) }
        guard offset < info.size else { throw .rangeNotSatisfiable(key: key, size: info.size) }
        return ObjectContents(bytes: [], info: info)
    }

    private func part(
        _ answer: S3Answer, range: Range<Int64>, key: String
    ) throws(ObjectStoreError) -> ObjectContents {
        let text = answer.headers.first(name: "content-range") ?? ""
        guard let said = ContentRange(text), said.bytes.lowerBound == range.lowerBound,
            said.bytes.upperBound == min(range.upperBound, said.size), said.bytes.count == answer.body.count
        else {
            throw .damaged(
                key: key,
                message: "\(answer.body.count) bytes with Content-Range \(text.prefix(80)) were the answer to the "
                    + "range \(range.lowerBound)..<\(range.upperBound)")
        }
        let info = try info(of: answer, key: key, size: said.size)
        return said.bytes.count == said.size
            ? try whole(answer.body, info: info) : ObjectContents(bytes: answer.body, info: info)
    }

    /// All of an object's bytes, once they have been compared with its digest.
    private func whole(_ bytes: [UInt8], info: ObjectInfo) throws(ObjectStoreError) -> ObjectContents {
        if let digest = info.digest, !digest.bytes.elementsEqual(SHA256.hash(data: bytes)) {
            throw .damaged(key: info.key, message: "its bytes are not those that its digest was made of")
        }
        return ObjectContents(bytes: bytes, info: info)
    }

    /// What the headers of an answer say of an object.
    private func info(of answer: S3Answer, key: String, size: Int64) throws(ObjectStoreError) -> ObjectInfo {
        guard let tag = answer.headers.first(name: "etag"), !tag.isEmpty else {
            throw .damaged(key: key, message: "the server gives the object no ETag")
        }
        var digest: ObjectDigest?
        if let text = answer.headers.first(name: Self.digestHeader) {
            digest = ObjectDigest(hexadecimal: text)
            if digest == nil { throw .damaged(key: key, message: "its digest is not one: \(text.prefix(80))") }
        }
        return ObjectInfo(
            key: key, size: size, tag: tag, digest: digest,
            modified: answer.headers.first(name: "last-modified").flatMap(Timestamp.init(header:))?.seconds)
    }
}
