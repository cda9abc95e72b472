import Crypto
import NIOHTTP1
import StrataObjectStore

/// The upload of one object in parts, from its beginning to its end.
struct MultipartUpload {
    let store: S3ObjectStore
    /// The key without the store's prefix, for errors.
    let name: String
    let key: String
    let digest: ObjectDigest
    let size: Int64

    enum Outcome {
        case written(ObjectInfo)
        /// Another write was under way: this upload is lost, and a new one may have better luck.
        case conflict(String)
    }

    private struct Part {
        let number: Int
        let tag: String
    }

    /// Returns the upload's identifier.
    func begin() async throws(ObjectStoreError) -> String {
        var request = S3Request(method: .POST, key: key, query: [("uploads", "")])
        request.headers = [(S3ObjectStore.digestHeader, digest.hexadecimal)]
        let answer = try await store.caller.call(request, name: name)
        guard answer.isSuccess else { throw store.error(answer, key: name) }
        guard let identifier = (try? XMLElement(parsing: answer.body))?.child("UploadId")?.text, !identifier.isEmpty
        else { throw .damaged(key: name, message: "the server gave the upload no identifier") }
        return identifier
    }

    /// Sends all parts and puts them together.
    func run(
        _ identifier: String, source: any ObjectSource, partSize: Int64, condition: PutCondition
    ) async -> Result<Outcome, ObjectStoreError> {
        do throws(ObjectStoreError) {
            let parts = try await send(identifier, source: source, partSize: partSize)
            return .success(try await complete(identifier, parts: parts, condition: condition))
        } catch {
            return .failure(error)
        }
    }

    /// Gives the parts up, as far as the server can be reached; not stopped by the task's cancellation.
    func abort(_ identifier: String) async {
        let request = S3Request(method: .DELETE, key: key, query: [("uploadId", identifier)])
        let (store, name) = (store, name)
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await store.caller.call(request, name: name) }
                group.addTask { try? await Task.sleep(for: .seconds(10)) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }

    private func send(
        _ identifier: String, source: any ObjectSource, partSize: Int64
    ) async throws(ObjectStoreError) -> [Part] {
        let result = await withTaskGroup(of: Result<Part, ObjectStoreError>.self) { group in
            await sendAll(identifier, source: source, partSize: partSize, in: &group)
        }
        return try result.get()
    }

    private func sendAll(
        _ identifier: String, source: any ObjectSource, partSize: Int64,
        in group: inout TaskGroup<Result<Part, ObjectStoreError>>
    ) async -> Result<[Part], ObjectStoreError> {
        var hash = SHA256()
        var parts: [Part] = []
        do throws(ObjectStoreError) {
            var underWay = 0
            var offset: Int64 = 0
            var number = 1
            while offset < size {
                // Before the next is read, so that no more than these are in memory.
                if underWay >= max(1, store.caller.configuration.partsAtOnce), let result = await group.next() {
                    parts.append(try result.get())
                    underWay -= 1
                }
                let range = offset..<min(offset + partSize, size)
                let bytes = try await store.read(source, range, key: name)
                hash.update(data: bytes)
                let current = number
                group.addTask { await self.send(bytes, number: current, identifier: identifier) }
                underWay += 1
                offset = range.upperBound
                number += 1
            }
            for await result in group { parts.append(try result.get()) }
            guard digest.bytes.elementsEqual(hash.finalize()) else {
                throw ObjectStoreError.source(
                    key: name, message: "the bytes that were read do not have the digest given")
            }
            return .success(parts.sorted { $0.number < $1.number })
        } catch {
            group.cancelAll()
            return .failure(error)
        }
    }

    private func send(_ bytes: [UInt8], number: Int, identifier: String) async -> Result<Part, ObjectStoreError> {
        let request = S3Request(
            method: .PUT, key: key, query: [("partNumber", String(number)), ("uploadId", identifier)], body: bytes,
            payload: Hexadecimal.text(SHA256.hash(data: bytes)))
        do throws(ObjectStoreError) {
            let answer = try await store.caller.call(request, name: name)
            guard answer.isSuccess else { return .failure(store.error(answer, key: name)) }
            guard let tag = answer.headers.first(name: "etag"), !tag.isEmpty else {
                return .failure(.damaged(key: name, message: "the server gives part \(number) no ETag"))
            }
            return .success(Part(number: number, tag: tag))
        } catch {
            return .failure(error)
        }
    }

    private func complete(
        _ identifier: String, parts: [Part], condition: PutCondition
    ) async throws(ObjectStoreError) -> Outcome {
        let list = parts.map {
            "<Part><PartNumber>\($0.number)</PartNumber><ETag>\(XMLText.escaped($0.tag))</ETag></Part>"
        }.joined()
        let root = "CompleteMultipartUpload"
        let body = Array("<\(root) xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list)</\(root)>".utf8)
        var request = S3Request(
            method: .POST, key: key, query: [("uploadId", identifier)], body: body,
            payload: Hexadecimal.text(SHA256.hash(data: body)))
        request.headers = [("content-type", "application/xml")] + S3ObjectStore.headers(of: condition)
        request.mayFailLate = true
        request.conflictsEndIt = true
        let answer: S3Answer
        do throws(ObjectStoreError) {
            answer = try await store.caller.call(request, name: name)
        } catch .unanswered(let key, let message) {
            if let info = try? await own() { return .written(info) }
            throw .unanswered(key: key, message: message)
        }
        if answer.isSuccess {
            if let tag = (try? XMLElement(parsing: answer.body))?.child("ETag")?.text, !tag.isEmpty {
                return .written(ObjectInfo(key: name, size: size, tag: tag, digest: digest, modified: nil))
            }
            guard let info = try await own() else {
                throw .damaged(key: name, message: "the upload ended well, and its object is not there")
            }
            return .written(info)
        }
        if answer.status == 409 { return .conflict(answer.summary) }
        // A try whose answer was lost may have ended the upload.
        if answer.followsUnanswered, let info = try? await own() { return .written(info) }
        if answer.followsUnanswered, answer.status != 412 {
            throw .unanswered(key: name, message: answer.summary)
        }
        if answer.failure?.code == "NoSuchUpload" {
            throw .unavailable(key: name, message: "the server has given the upload up: \(answer.summary)")
        }
        if answer.status == 404, condition != .always, answer.failure?.code != "NoSuchBucket" {
            throw .preconditionFailed(key: name)
        }
        throw store.error(answer, key: name)
    }

    /// The object, if it is what was uploaded.
    private func own() async throws(ObjectStoreError) -> ObjectInfo? {
        guard let info = try await store.head(name), info.digest == digest, info.size == size else { return nil }
        return info
    }
}
