import Crypto
import NIOHTTP1
public import StrataObjectStore

extension S3ObjectStore {
    public func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        let fullKey = try self.key(key)
        let size = source.size
        let partSize = partSize(for: size)
        guard size > partSize else {
            let bytes = try await read(source, 0..<size, key: key)
            return try await put(key, bytes, digest: digest, if: condition)
        }
        // A conflict with another write ends an upload: all parts are sent anew.
        var conflicts = 0
        while true {
            let upload = MultipartUpload(store: self, name: key, key: fullKey, digest: digest, size: size)
            let identifier = try await upload.begin()
            switch await upload.run(identifier, source: source, partSize: partSize, condition: condition) {
            case .success(.written(let info)): return info
            case .success(.conflict(let message)):
                conflicts += 1
                await upload.abort(identifier)
                if conflicts > 3 { throw ObjectStoreError.unavailable(key: key, message: message) }
            case .failure(let error):
                await upload.abort(identifier)
                throw error
            }
        }
    }

    /// The size of all parts but the last, such that there are at most 10,000.
    private func partSize(for size: Int64) -> Int64 {
        let wanted = Int64(min(max(caller.configuration.partSize, 5 << 20), ObjectLimits.largestPut))
        let needed = (size + 9_999) / 10_000
        return max(wanted, (needed + 0xFFFFF) & ~0xFFFFF)
    }

    func read(
        _ source: any ObjectSource, _ range: Range<Int64>, key: String
    ) async throws(ObjectStoreError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try await source.read(range)
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .source(key: key, message: "\(error)")
        }
        guard bytes.count == range.count else {
            throw .source(
                key: key, message: "\(bytes.count) bytes were read of \(range.count) from \(range.lowerBound) on")
        }
        return bytes
    }
}
