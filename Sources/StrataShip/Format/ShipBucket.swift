internal import StrataLog
package import StrataObjectStore
internal import StrataSupport
internal import Synchronization

/// A bucket that a log is shipped to, and what its objects are encrypted with.
package struct ShipBucket: Sendable {
    package let objects: any ObjectStore
    /// Nil for a bucket that is not encrypted.
    package let cipher: (any ObjectCipher)?
    /// Whose requests are told; nil for those of readers.
    var store: String?
    private let readers = FrameReaders()
    private let positions = Positions()

    package init(_ objects: any ObjectStore, _ cipher: (any ObjectCipher)?) {
        self.objects = objects
        self.cipher = cipher
    }

    var isEncrypted: Bool { cipher != nil }

    /// The size of an object with a payload of a length.
    func objectByteCount(_ byteCount: Int) -> Int {
        FrameReader.objectByteCount(byteCount, isEncrypted: isEncrypted)
    }

    // MARK: Requests

    var description: String { objects.description }
    var identity: String { objects.identity }

    func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        try await told("get") { () async throws(ObjectStoreError) in try await objects.get(key, range: range) }
    }

    func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo? {
        try await told("head") { () async throws(ObjectStoreError) in try await objects.head(key) }
    }

    func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await told("put") { () async throws(ObjectStoreError) in
            try await objects.put(key, bytes, digest: digest, if: condition)
        }
    }

    func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await told("upload") { () async throws(ObjectStoreError) in
            try await objects.upload(key, from: source, digest: digest, if: condition)
        }
    }

    func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList {
        try await told("list") { () async throws(ObjectStoreError) in
            try await objects.list(prefix: prefix, after: after, limit: limit)
        }
    }

    func delete(_ keys: [String]) async throws(ObjectStoreError) {
        try await told("delete") { () async throws(ObjectStoreError) in try await objects.delete(keys) }
    }

    /// Makes a request of a shipper, and tells who listens of it.
    private func told<Result>(
        _ operation: String, _ request: () async throws(ObjectStoreError) -> Result
    ) async throws(ObjectStoreError) -> Result {
        do throws(ObjectStoreError) {
            let result = try await request()
            tell(.request(operation: operation, result: "ok"))
            return result
        } catch {
            tell(.request(operation: operation, result: error.kind))
            throw error
        }
    }

    /// Tells who listens of something that a shipper has done.
    func tell(_ kind: @autoclosure () -> ShippingEvent.Kind) {
        guard let store, EventHub.wants(.shipping) else { return }
        EventHub.tell(.shipping(ShippingEvent(store: .at(store), kind: kind())))
    }

    // MARK: Checkpoints

    /// Where checkpoints end that were asked for before. Objects are not replaced.
    private final class Positions: Sendable {
        private static let countMaximum = 256
        private let known = Mutex<[String: LogPosition]>([:])

        subscript(_ key: String) -> LogPosition? { known.withLock { $0[key] } }

        func keep(_ key: String, _ position: LogPosition) {
            known.withLock { known in
                if known.count >= Self.countMaximum { known.removeAll() }
                known[key] = position
            }
        }
    }

    /// Where a checkpoint ends; nil where there is none that can be read.
    ///
    /// - Throws: `.store`
    func end(ofCheckpoint key: String) async throws(ShipError) -> LogPosition? {
        if let known = positions[key] { return known }
        do throws(ShipError) {
            let found = try await ShippedLog.header(key, self)?.position
            if let found { positions.keep(key, found) }
            return found
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    // MARK: Parts of objects

    /// What reads parts of objects that were read before. Objects are not replaced, and there is one for each.
    private final class FrameReaders: Sendable {
        private static let countMaximum = 256
        private let known = Mutex<[String: FrameReader]>([:])

        subscript(_ key: String) -> FrameReader? { known.withLock { $0[key] } }

        func keep(_ key: String, _ reader: FrameReader?) {
            known.withLock { known in
                if known.count >= Self.countMaximum { known.removeAll() }
                known[key] = reader
            }
        }
    }

    /// A part of an object's payload, checked; nil where there is no object.
    ///
    /// - Parameters:
    ///   - byteCount: of the whole payload, as the object's size says.
    ///   - range: not empty, within it.
    /// - Throws: `.damaged`, `.key`, `.store`.
    func payload(_ key: String, byteCount: Int, _ range: Range<Int>) async throws(ShipError) -> [UInt8]? {
        var attempt = 0
        while true {
            attempt += 1
            do throws(ShipError) {
                return try await payloadOnce(key, byteCount: byteCount, range)
            } catch {
                readers.keep(key, nil)
                guard error.code == .damaged, attempt < ShippedLog.readAttempts else { throw error }
            }
        }
    }

    private func payloadOnce(
        _ key: String, byteCount: Int, _ range: Range<Int>
    ) async throws(ShipError) -> [UInt8]? {
        let wanted = FrameReader.storedRange(of: range, byteCount: byteCount, isEncrypted: isEncrypted)
        guard isEncrypted else {
            let reader = FrameReader(byteCount: byteCount, cipher: nil, context: [])
            return try await bytes(key, wanted).map { bytes throws(ShipError) in
                try reader.payload(range, from: bytes[...], key: key)
            }
        }
        if let reader = readers[key] {
            return try await bytes(key, wanted).map { bytes throws(ShipError) in
                try reader.payload(range, from: bytes[...], key: key)
            }
        }
        // The header and the salt, and what is wanted with it if it lies right behind them.
        let front = FrameReader.start(isEncrypted: true)
        let isFront = wanted.lowerBound == front
        guard let beginning = try await bytes(key, 0..<(isFront ? wanted.upperBound : front)) else { return nil }
        let header = try ObjectHeader(beginning, key: key)
        guard header.payloadByteCount == byteCount else {
            throw ShipError(.damaged, "an object has another length than its name and size say", key: key)
        }
        let reader = try header.frameReader(beginning, key: key, cipher: cipher)
        readers.keep(key, reader)
        if isFront { return try reader.payload(range, from: beginning[front...], key: key) }
        return try await bytes(key, wanted).map { bytes throws(ShipError) in
            try reader.payload(range, from: bytes[...], key: key)
        }
    }

    /// Bytes of an object as they are stored; nil where there is none.
    private func bytes(_ key: String, _ range: Range<Int>) async throws(ShipError) -> [UInt8]? {
        let found: [UInt8]
        do throws(ObjectStoreError) {
            found = try await objects.get(key, range: Int64(range.lowerBound)..<Int64(range.upperBound)).bytes
        } catch {
            switch error {
            case .notFound: return nil
            case .rangeNotSatisfiable: throw ShipError(.damaged, "an object is shorter than it should be", key: key)
            default: throw ShipError(error)
            }
        }
        guard found.count == range.count else {
            throw ShipError(.damaged, "an object is shorter than it should be", key: key)
        }
        return found
    }
}

extension ObjectStoreError {
    /// What kind of error it is, as metrics have it.
    fileprivate var kind: String {
        switch self {
        case .notFound: "not_found"
        case .rangeNotSatisfiable: "range"
        case .preconditionFailed: "precondition_failed"
        case .denied: "denied"
        case .credentials: "credentials"
        case .unavailable: "unavailable"
        case .unanswered: "unanswered"
        case .damaged: "damaged"
        case .unsupported: "unsupported"
        case .source: "source"
        case .cancelled: "cancelled"
        }
    }
}
