internal import Dispatch
internal import StrataIO
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// Writes a checkpoint of the newest state, names it in the manifest and removes those it replaces (but for one).
    ///
    /// Only the flush holds the writer up; the index is written from a snapshot while commits go on. One at a time.
    func writeCheckpoint(isClosing: Bool) throws(StoreError) {
        checkpointing.wait()
        defer { checkpointing.signal() }
        let (sealed, facts, durable) = try withWriter { writer throws(StoreError) in
            try GroupCommit.flush(writer, base: self.snapshot) { snapshot in published.withLock { $0 = snapshot } }
            if isClosing { writer.trim() }
            // What is in the checkpoint is kept apart from what comes after it, so that it can be let go below.
            let sealed = self.snapshot.sealed()
            published.withLock { $0 = sealed }
            return (sealed, writer.facts, writer.durable.position)
        }
        let isCurrent = state.withLock { $0.checkpoint > 0 && $0.checkpointEnd == sealed.end }
        if !isCurrent {
            let number = state.withLock { $0.checkpoint } + 1
            try Checkpoint.write(number: number, snapshot: sealed, facts: facts)
            state.withLock { state in
                state.checkpoint = number
                state.checkpointEnd = sealed.end
                state.bytesSinceCheckpoint = 0
            }
            if !isClosing { try rebase(onto: number, from: sealed) }
        }
        try writeManifest(durable: durable)
        removeOldCheckpoints()
    }

    /// Lets the newest snapshot read what is in the checkpoint from there: memory holds only what came after it, and the file of the
    /// checkpoint before is let go.
    private func rebase(onto number: UInt32, from sealed: Snapshot) throws(StoreError) {
        let reopened = try Checkpoint.open(number: number, source: source).snapshot
        try withWriter { _ throws(StoreError) in
            let rebased = self.snapshot.rebased(onto: reopened, from: sealed)
            published.withLock { $0 = rebased }
        }
    }

    private func writeManifest(durable: LogPosition) throws(StoreError) {
        let manifest = state.withLock { state in
            state.manifestNumber += 1
            return Manifest(
                number: state.manifestNumber, storeUUID: storeUUID, segment: durable.segment,
                checkpoint: state.checkpoint, durable: durable)
        }
        try manifest.write(files)
    }

    /// Keeps the newest two: the older one serves if the newer turns out damaged. What cannot be removed only takes space.
    private func removeOldCheckpoints() {
        guard let listing = try? files.list() else { return }
        for number in listing.checkpoints.dropLast(2) {
            try? files.fileSystem.unlink(files.checkpoint(number))
        }
    }
}
