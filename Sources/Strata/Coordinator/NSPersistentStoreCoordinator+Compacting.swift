public import Foundation
import StrataLog
import StrataSupport

extension NSPersistentStoreCoordinator {
    /// How a store uses its disk; nothing for a store that has no log (``NSBinaryStoreType``, ``NSXMLStoreType``,
    /// classes of one's own).
    ///
    /// - Throws: `CocoaError` 134070 when the store is none of the coordinator's; the store's error when a segment
    ///   cannot
    ///   be read.
    /// - Complexity: O(objects) over a small constant; reads a segment of the log the first time that it is asked
    ///   about.
    public final func space(of store: NSPersistentStore) throws -> StoreSpace {
        let handle = try handle(ofOwn: store)
        guard handle.custom == nil else { return StoreSpace([]) }
        do {
            return StoreSpace(try handle.log.segmentStatistics())
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    /// Takes back the space of what was deleted or replaced, as far as nobody needs it: all of it that is worth the
    /// copying, where the compaction that goes on by itself stops at seven tenths. Contexts read and save meanwhile.
    ///
    /// Objects are what they were and keep their IDs; the history stays as ``HistoryRetention`` wants it; states of the
    /// past that no context is pinned to may expire. What was done when it is stopped stays done.
    ///
    /// - Parameters:
    ///   - store: one of the coordinator's. Nothing happens for one without a log.
    ///   - progress: counts the bytes that are written, and stops the compaction when it is cancelled.
    /// - Returns: What was done.
    /// - Throws: `CocoaError.userCancelled` when `progress` was cancelled; 513 when the store is read-only; 134070 when
    ///   it
    ///   is none of the coordinator's; 134030 with the store's error when it cannot be read or written.
    /// - Complexity: reads and writes what is needed of the segments that it takes away, half a MiB at a time. May be
    ///   called on any thread; one compaction of a store runs at a time, others wait for it.
    @discardableResult
    public final func compact(_ store: NSPersistentStore, progress: Progress? = nil) throws -> StoreCompaction {
        let handle = try handle(ofOwn: store)
        guard handle.custom == nil else { return StoreCompaction() }
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        do {
            if progress?.isCancelled == true { throw DescribedError(.userCancelled) }
            let report = try handle.log.compact { step in
                guard let progress else { return true }
                progress.totalUnitCount = Int64(step.byteCount)
                // More can come to it while others write.
                progress.completedUnitCount = Int64(min(step.completedByteCount, step.byteCount))
                return !progress.isCancelled
            }
            if let progress {
                // Where there was nothing to do, too.
                progress.totalUnitCount = max(progress.totalUnitCount, 1)
                progress.completedUnitCount = progress.totalUnitCount
            }
            return StoreCompaction(report)
        } catch let error as StoreError {
            if error.code == .cancelled { throw DescribedError(.userCancelled) }
            throw StoreFailure.cocoaError(error, saving: handle)
        }
    }

    /// As `compact(_:progress:)`, on a thread of its own; cancelling the task stops it.
    @discardableResult
    public final func compact(
        _ store: NSPersistentStore, progress: Progress? = nil
    ) async throws -> StoreCompaction {
        let progress = progress ?? Progress(totalUnitCount: 0)
        let work = UncheckedBox { [self] () throws -> StoreCompaction in try compact(store, progress: progress) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global(qos: .utility).async { continuation.resume(with: Result { try work.value() }) }
            }
        } onCancel: {
            progress.cancel()
        }
    }
}
