/// What must hold of a key for a write to it to happen. The store checks it and writes in one step.
public enum PutCondition: Sendable, Hashable {
    /// Nothing: whatever is there is replaced.
    case always
    /// No object has the key (`If-None-Match: *`).
    case absent
    /// The key's object is the version with this tag (`If-Match`), so it is there.
    case matching(String)
}
