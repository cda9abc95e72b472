import StrataLog

/// A store as a request sees it.
struct SeenStore {
    let handle: StoreHandle
    /// Its number in the context; 0 for none.
    let index: UInt16
    let snapshot: Snapshot

    init(_ handle: StoreHandle, index: UInt16, _ snapshot: Snapshot) {
        self.handle = handle
        self.index = index
        self.snapshot = snapshot
    }
}
