internal import StrataIO
internal import Synchronization
internal import SystemPackage

/// What those who do not write a store can know of where its log ends.
final class LogTail: Sendable {
    /// How far may be read.
    enum State: Hashable {
        /// The writer, alive or dead, said so.
        case announced(TailPage.Announcement)
        /// Somebody writes and says nothing: only what the log says of itself is sure.
        case unannounced
        /// Nobody writes: every complete record counts, since the next writer will keep it.
        case idle
    }

    private struct Attached {
        var page: TailPage?
        /// Which file that is.
        var identity: FileIdentity?
    }

    private let files: StoreFiles
    private let storeUUID: StoreUUID
    private let attached = Mutex(Attached())

    init(_ files: StoreFiles, storeUUID: StoreUUID) {
        self.files = files
        self.storeUUID = storeUUID
        reattach()
    }

    /// Looks for the page again, which a writer may have made or replaced since.
    func reattach() {
        let path = files.tail
        let found = (try? files.attributes(path)).flatMap { $0 }
        let identity = found.map { FileIdentity(device: $0.device, inode: $0.inode) }
        attached.withLock { attached in
            if attached.page != nil, attached.identity == identity { return }
            let page =
                (try? files.sharedPage(path, .readWrite))
                ?? (try? files.sharedPage(path, .read))
            attached = Attached(page: page.map { TailPage($0, storeUUID: storeUUID) }, identity: identity)
        }
    }

    /// Nil where there is none (yet).
    var page: TailPage? { attached.withLock { $0.page } }

    /// - Throws: `.io` when the lock cannot be looked at.
    func state() throws(StoreError) -> State {
        if let announcement = page?.announcement { return .announced(announcement) }
        // There may be a page by now.
        reattach()
        if let announcement = page?.announcement { return .announced(announcement) }
        return try isLocked() ? .unannounced : .idle
    }

    /// Whether what was read under a state has not been overtaken by another writer meanwhile.
    func isStill(_ state: State) throws(StoreError) -> Bool {
        switch (state, try self.state()) {
        case (.announced(let before), .announced(let now)): before.writer == now.writer
        case (let before, let now): before == now
        }
    }

    /// Whether some process has the store open for writing.
    func isLocked() throws(StoreError) -> Bool {
        let path = files.lock
        do throws(Errno) {
            return try files.open(path, .read).isLockedElsewhere()
        } catch .noSuchFileOrDirectory {
            return false
        } catch {
            throw StoreError(.io, "could not look at the lock", errno: error, path: path.string)
        }
    }
}
