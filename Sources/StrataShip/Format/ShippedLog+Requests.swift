internal import StrataObjectStore

// Reading single objects of a bucket, which are checked. One that arrives damaged is read again.
extension ShippedLog {
    /// The head, and its version; nil where there is none.
    package static func head(
        _ objects: ShipBucket
    ) async throws(ShipError) -> (head: ShipHead, tag: String)? {
        var attempt = 0
        while true {
            attempt += 1
            let found: ObjectContents
            do throws(ObjectStoreError) {
                found = try await objects.get(ShipKey.head, range: nil)
            } catch {
                if case .notFound = error { return nil }
                throw ShipError(error)
            }
            do throws(ShipError) {
                return (try ShipHead(found.bytes, objects.cipher), found.info.tag)
            } catch {
                // It may have been damaged on its way.
                guard error.code == .damaged, attempt < readAttempts else { throw error }
            }
        }
    }

    /// How often an object is read that arrives damaged.
    static let readAttempts = 3

    /// The header of an object; nil where there is none.
    package static func header(
        _ key: String, _ objects: ShipBucket
    ) async throws(ShipError) -> ObjectHeader? {
        var attempt = 0
        while true {
            attempt += 1
            let bytes: [UInt8]
            do throws(ObjectStoreError) {
                bytes = try await objects.get(key, range: 0..<Int64(ObjectHeader.byteCount)).bytes
            } catch {
                switch error {
                case .notFound: return nil
                case .rangeNotSatisfiable: throw ShipError(.damaged, "an object is empty", key: key)
                default: throw ShipError(error)
                }
            }
            do throws(ShipError) {
                return try ObjectHeader(bytes, key: key)
            } catch {
                guard error.code == .damaged, attempt < readAttempts else { throw error }
            }
        }
    }

    /// A whole object's header and payload, checked; nil where there is none.
    package static func object(
        _ key: String, _ objects: ShipBucket
    ) async throws(ShipError) -> (header: ObjectHeader, payload: [UInt8])? {
        var attempt = 0
        while true {
            attempt += 1
            let bytes: [UInt8]
            do throws(ObjectStoreError) {
                bytes = try await objects.get(key, range: nil).bytes
            } catch {
                if case .notFound = error { return nil }
                throw ShipError(error)
            }
            do throws(ShipError) {
                let header = try ObjectHeader(bytes, key: key)
                return (header, try header.payload(of: bytes, key: key, cipher: objects.cipher))
            } catch {
                guard error.code == .damaged, attempt < readAttempts else { throw error }
            }
        }
    }

    static func list(_ prefix: String, _ objects: ShipBucket) async throws(ShipError) -> [ObjectInfo] {
        var found: [ObjectInfo] = []
        while true {
            let after = found.last?.key
            let list = try await asking { () async throws(ObjectStoreError) in
                try await objects.list(prefix: prefix, after: after, limit: 1000)
            }
            found += list.objects
            guard list.isTruncated, !list.objects.isEmpty else { return found }
        }
    }
}
