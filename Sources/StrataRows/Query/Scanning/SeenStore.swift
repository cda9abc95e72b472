import StrataLog

/// A store as a request sees it.
package struct SeenStore {
    package let handle: StoreHandle
    /// Its number in the context; 0 for none.
    package let index: UInt16
    package let snapshot: Snapshot

    package init(_ handle: StoreHandle, index: UInt16, _ snapshot: Snapshot) {
        self.handle = handle
        self.index = index
        self.snapshot = snapshot
    }
}
