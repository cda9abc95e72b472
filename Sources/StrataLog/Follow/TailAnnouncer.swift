package import StrataIO

/// Announces the end of a log to those who read it from something other than a writer's directory: what they read comes
/// from elsewhere, and whoever brings it says here how far it counts.
package struct TailAnnouncer: Sendable {
    private let tail: TailPage

    /// Takes a page that nobody has announced anything in.
    package init(_ page: SharedPage, storeUUID: StoreUUID) {
        tail = TailPage(page, storeUUID: storeUUID)
    }

    /// Says that everything up to a position can be read, and wakes who waits for it.
    ///
    /// - Parameter end: Behind a segment's header.
    package func announce(_ end: LogPosition) {
        tail.begin(at: end)
        tail.announce(end)
    }
}
