import StrataObjectStore

extension S3Answer {
    /// What an answer means that is none of those that a request looks for.
    func error(key: String, bucket: String) -> ObjectStoreError {
        switch (status, failure?.code ?? "") {
        case (_, "NoSuchBucket"):
            .unsupported(key: key, message: "there is no bucket \(bucket): \(summary)")
        case (404, _):
            .notFound(key: key)
        case (412, _):
            .preconditionFailed(key: key)
        case (401, _), (403, _):
            .denied(key: key, message: summary)
        case (300..<400, _):
            .unsupported(
                key: key,
                message: "the bucket is in another region or at another address"
                    + (failure?.region.map { " (\($0))" } ?? "") + ": \(summary)")
        case (400, "XAmzContentSHA256Mismatch"), (400, "BadDigest"), (400, "IncompleteBody"):
            .damaged(key: key, message: "what arrived is not what its digest says: \(summary)")
        case (200..<300, _):
            .damaged(key: key, message: "the answer is not what the protocol says: \(summary)")
        default:
            .unsupported(key: key, message: summary)
        }
    }
}
