/// Why a request to an ``ObjectStore`` was not answered as asked.
public enum ObjectStoreError: Error, Sendable, Hashable {
    /// There is no such object.
    case notFound(key: String)
    /// The object has no byte of the range.
    case rangeNotSatisfiable(key: String, size: Int64)
    /// The condition of a write does not hold: somebody else has written.
    case preconditionFailed(key: String)
    /// The store did not let these credentials do it (403 and kin): what the store's own message says.
    case denied(key: String, message: String)
    /// There are no credentials, or they have run out and no new ones could be had.
    case credentials(message: String)
    /// The store, or the way to it, did not do it, however often it was asked (500, 503, time-out). It was not done.
    case unavailable(key: String, message: String)
    /// The request was sent, no answer came, and it could not be found out whether it was carried out.
    case unanswered(key: String, message: String)
    /// What the store answered is not what its protocol says, or not what was written: a digest or length that differs.
    case damaged(key: String, message: String)
    /// The store cannot do what was asked: no such bucket, a key or length that it does not take, no conditional
    /// writes.
    case unsupported(key: String, message: String)
    /// The bytes that were to be uploaded could not be read.
    case source(key: String, message: String)
    /// The task was cancelled; a write may have been carried out.
    case cancelled
}

extension ObjectStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let key): "there is no object \(key)"
        case .rangeNotSatisfiable(let key, let size):
            "the range lies behind the end of the object \(key) of \(size) bytes"
        case .preconditionFailed(let key): "the object \(key) has been written by somebody else"
        case .denied(let key, let message): "access to the object \(key) was denied: \(message)"
        case .credentials(let message): "there are no valid credentials: \(message)"
        case .unavailable(let key, let message): "the object store did not serve the object \(key): \(message)"
        case .unanswered(let key, let message):
            "the object store did not answer, and may or may not have written the object \(key): \(message)"
        case .damaged(let key, let message): "the object \(key) is damaged: \(message)"
        case .unsupported(let key, let message): "the object store cannot do this with the object \(key): \(message)"
        case .source(let key, let message): "what was to be uploaded as the object \(key) cannot be read: \(message)"
        case .cancelled: "the task was cancelled"
        }
    }
}
