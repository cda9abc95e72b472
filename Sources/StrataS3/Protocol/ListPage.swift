import StrataObjectStore

/// The answer to ListObjectsV2.
struct ListPage {
    var objects: [ObjectInfo] = []
    var isTruncated = false
    var nextToken: String?

    /// - Parameter name: What was listed, for errors.
    init(parsing body: [UInt8], name: String) throws(ObjectStoreError) {
        let root: XMLElement
        do {
            root = try XMLElement(parsing: body)
        } catch {
            throw .damaged(key: name, message: "the server's list cannot be read: \(error)")
        }
        guard root.name == "ListBucketResult" else {
            throw .damaged(key: name, message: "the server's list is a \(root.name.prefix(80))")
        }
        switch root.child("IsTruncated")?.text {
        case "true": isTruncated = true
        case "false": isTruncated = false
        default: throw .damaged(key: name, message: "the server's list does not say whether it is cut")
        }
        nextToken = root.child("NextContinuationToken")?.text
        for entry in root.children where entry.name == "Contents" {
            guard let key = entry.child("Key")?.text, let size = (entry.child("Size")?.text).flatMap(Int64.init),
                let tag = entry.child("ETag")?.text
            else { throw .damaged(key: name, message: "the server's list has an object without key, size or tag") }
            objects.append(
                ObjectInfo(
                    key: key, size: size, tag: tag, digest: nil,
                    modified: (entry.child("LastModified")?.text).flatMap(Timestamp.init(iso8601:))?.seconds))
        }
    }
}
