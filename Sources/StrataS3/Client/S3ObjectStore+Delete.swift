import Crypto
import Foundation
import NIOHTTP1
public import StrataObjectStore

extension S3ObjectStore {
    public func delete(_ keys: [String]) async throws(ObjectStoreError) {
        // All are looked at before the first is removed.
        var names: [(name: String, key: String)] = []
        for name in keys { names.append((name, try key(name))) }
        let writable = names.filter { XMLText.canWrite($0.key) }
        var single = names.filter { !XMLText.canWrite($0.key) }
        if writable.count == 1 {
            single += writable
        } else {
            for start in stride(from: 0, to: writable.count, by: 1000) {
                let batch = Array(writable[start..<min(start + 1000, writable.count)])
                guard let rest = try await deleteBatch(batch) else {
                    single += writable[start...]
                    break
                }
                single += rest
            }
        }
        try await deleteEach(single)
    }

    /// Removes objects in one request. Returns those that have to be tried again, or nil where the server has no such
    /// requests.
    private func deleteBatch(
        _ batch: [(name: String, key: String)]
    ) async throws(ObjectStoreError) -> [(name: String, key: String)]? {
        let objects = batch.map { "<Object><Key>\(XMLText.escaped($0.key))</Key></Object>" }.joined()
        let body = Array(
            ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<Quiet>true</Quiet>\(objects)</Delete>").utf8)
        var request = S3Request(method: .POST, key: nil, query: [("delete", "")], body: body)
        request.payload = Hexadecimal.text(SHA256.hash(data: body))
        // AWS wants it for this request, whatever else says what the body is.
        request.headers = [
            ("content-md5", Data(Insecure.MD5.hash(data: body)).base64EncodedString()),
            ("content-type", "application/xml"),
        ]
        request.mayFailLate = true
        let first = batch[0].name
        let answer = try await caller.call(request, name: first)
        if [405, 501].contains(answer.status) { return nil }
        guard answer.isSuccess else { throw error(answer, key: first) }
        let result: XMLElement
        do {
            result = try XMLElement(parsing: answer.body)
        } catch {
            throw .damaged(key: first, message: "the answer to a removal cannot be read: \(error)")
        }
        guard result.name == "DeleteResult" else {
            throw .damaged(key: first, message: "the answer to a removal is a \(result.name.prefix(80))")
        }
        var again: [(name: String, key: String)] = []
        for entry in result.children where entry.name == "Error" {
            let key = entry.child("Key")?.text ?? ""
            let code = entry.child("Code")?.text ?? ""
            let item = batch.first { $0.key == key }
            let name = item?.name ?? key
            let message = "\(code): \(entry.child("Message")?.text ?? "")"
            switch code {
            case "NoSuchKey": continue
            case "AccessDenied": throw .denied(key: name, message: String(message.prefix(300)))
            default:
                guard let item else { throw .unavailable(key: name, message: String(message.prefix(300))) }
                again.append(item)
            }
        }
        return again
    }

    private func deleteEach(_ items: [(name: String, key: String)]) async throws(ObjectStoreError) {
        let error = await withTaskGroup(of: ObjectStoreError?.self) { group in
            var first: ObjectStoreError?
            for (number, item) in items.enumerated() {
                if number >= caller.configuration.mostRequests, let error = await group.next() ?? nil {
                    first = error
                    break
                }
                group.addTask { await self.deleteOne(item) }
            }
            for await error in group where first == nil { first = error }
            return first
        }
        if let error { throw error }
    }

    private func deleteOne(_ item: (name: String, key: String)) async -> ObjectStoreError? {
        do throws(ObjectStoreError) {
            let answer = try await caller.call(S3Request(method: .DELETE, key: item.key), name: item.name)
            if answer.isSuccess || (answer.status == 404 && answer.failure?.code != "NoSuchBucket") { return nil }
            return error(answer, key: item.name)
        } catch {
            return error
        }
    }
}
