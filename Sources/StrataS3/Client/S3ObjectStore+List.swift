import NIOHTTP1
public import StrataObjectStore

extension S3ObjectStore {
    public func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList {
        guard limit > 0 else { return ObjectList(objects: [], isTruncated: true) }
        let limit = min(limit, 1000)
        var token: String?
        while true {
            var request = S3Request(method: .GET, key: nil)
            request.query = [
                ("list-type", "2"), ("max-keys", String(limit)), ("prefix", self.prefix + prefix),
            ]
            if let token {
                request.query.append(("continuation-token", token))
            } else if let after {
                request.query.append(("start-after", self.prefix + after))
            }
            let answer = try await caller.call(request, name: prefix)
            guard answer.status == 200 else { throw error(answer, key: prefix) }
            let page = try ListPage(parsing: answer.body, name: prefix)
            let objects = try named(page.objects, prefix: prefix, after: after)
            // A server may cut a list before its first object, where it went past many that are gone.
            guard objects.isEmpty, page.isTruncated else {
                return ObjectList(objects: objects, isTruncated: page.isTruncated)
            }
            guard let next = page.nextToken, next != token else {
                throw .damaged(key: prefix, message: "the list is cut, and does not say how to go on")
            }
            token = next
        }
    }

    /// Takes the store's prefix from the keys, and sees to it that a next page can begin after the last of them.
    private func named(
        _ found: [ObjectInfo], prefix: String, after: String?
    ) throws(ObjectStoreError) -> [ObjectInfo] {
        var last = after.map { self.prefix + $0 }
        var objects: [ObjectInfo] = []
        objects.reserveCapacity(found.count)
        for object in found {
            guard object.key.utf8.starts(with: (self.prefix + prefix).utf8) else {
                throw .damaged(key: object.key, message: "it was listed, and does not begin with \(prefix)")
            }
            if let last, !last.utf8.lexicographicallyPrecedes(object.key.utf8) {
                throw .unsupported(
                    key: object.key, message: "the server does not list objects in the order of their keys")
            }
            last = object.key
            let name = String(decoding: object.key.utf8.dropFirst(self.prefix.utf8.count), as: UTF8.self)
            // The prefix itself, as some tools write it for a folder, is no object of this store.
            if name.isEmpty { continue }
            objects.append(
                ObjectInfo(key: name, size: object.size, tag: object.tag, digest: nil, modified: object.modified))
        }
        return objects
    }
}
