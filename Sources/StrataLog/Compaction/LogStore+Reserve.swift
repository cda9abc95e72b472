internal import StrataIO
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

// On a full disk garbage can only be removed by writing what is not garbage elsewhere first. So a store keeps some
// space that nothing else takes.
extension LogStore {
    /// The reserve is this part of the log, within these bounds: enough for the index and a segment that is mostly
    /// dead.
    private static let reserveShare = 64
    private static let reserveByteCounts = 1 << 20...16 << 20

    /// Makes sure that the reserve is there. Where there is no space for it any more, it comes later.
    func keepReserve(for logByteCount: Int) {
        guard logByteCount >= options.reserveLogMinimumBytes else { return }
        let bounds = Self.reserveByteCounts
        let wanted = min(max(logByteCount / Self.reserveShare, bounds.lowerBound), bounds.upperBound)
        let path = files.reserve
        var held: Int64 = 0
        do throws(Errno) {
            held = try files.attributes(path)?.byteCount ?? 0
            // Not made longer for every little that the log has grown.
            guard held < wanted / 2 else { return }
            let file = try files.open(path, .createIfMissing)
            defer { try? file.close() }
            try file.preallocate(from: 0, byteCount: Int64(wanted))
        } catch {
            // What there was before stays.
            if held == 0 { try? files.remove(path) }
        }
    }

    /// Gives back what is kept for a full disk, and the older of two checkpoints, which is only there in case the newer
    /// one is damaged.
    func giveUpReserve() {
        try? files.remove(files.reserve)
        state.withLock { $0.previousCheckpointEnd = nil }
        removeOlderCheckpoint()
    }
}
