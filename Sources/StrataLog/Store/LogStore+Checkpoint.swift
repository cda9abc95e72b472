internal import StrataIO
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// Writes a checkpoint of the newest state, names it in the manifest and removes those it replaces (but for one).
    ///
    /// Only the flush holds the writer up; the index is written from a snapshot while commits go on.
    func writeCheckpoint(isClosing: Bool) throws(StoreError) {
        let (snapshot, facts, durable) = try withWriter { writer throws(StoreError) in
            try GroupCommit.flush(writer, base: self.snapshot) { snapshot in published.withLock { $0 = snapshot } }
            if isClosing { writer.trim() }
            return (self.snapshot, writer.facts, writer.durable.position)
        }
        let isCurrent = state.withLock { $0.checkpoint > 0 && $0.checkpointEnd == snapshot.end }
        if !isCurrent {
            let number = state.withLock { $0.checkpoint } + 1
            try Checkpoint.write(number: number, snapshot: snapshot, facts: facts)
            state.withLock { state in
                state.checkpoint = number
                state.checkpointEnd = snapshot.end
                state.bytesSinceCheckpoint = 0
            }
        }
        try writeManifest(durable: durable)
        removeOldCheckpoints()
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
