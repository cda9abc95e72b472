import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import SystemPackage

/// Takes back the space of what was deleted or replaced.
struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what was deleted or replaced from a store's log.",
        discussion: """
            A program that has the store open for writing compacts it itself, so this is refused then; readers do not \
            matter. What readers look at goes from the disk when \
            they let go of it. Points of the past before now may expire by it; the history stays.
            """)

    @OptionGroup var argument: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try reporting { try compact() }
        output.write([
            ("segments", .count(report.segments)), ("freedBytes", .bytes(report.freedByteCount)),
            ("writtenBytes", .bytes(report.writtenByteCount)),
        ])
    }

    /// Says who has the store, and how it is compacted then.
    private var refusal: CommandError {
        let lock = try? PosixFileSystem().open(FilePath(argument.url.appendingPathComponent("LOCK").path), .read)
        let holder = lock.flatMap { RunningProcess(lockedBy: $0) }.map { "\($0)" } ?? "another process"
        return CommandError(
            "\(holder) has the store open for writing, and it alone can compact it. It does so by itself as it "
                + "writes, and at once where it calls compact(_:progress:) of its coordinator; to compact from here, "
                + "end it first"
        )
    }

    private func open(_ options: LogOptions) throws -> LogStore {
        do throws(StoreError) {
            return try LogStore.open(FilePath(argument.url.path), in: PosixFileSystem(), options: options, schema: nil)
        } catch {
            throw error.code == .locked ? refusal : error
        }
    }

    private func compact() throws -> CompactionReport {
        var options = LogOptions()
        options.createsIfMissing = false
        options.compaction.isAutomatic = false
        let log = try open(options)
        var retention = log.retention
        retention.historyFloor = HistoryMetadata.start(log.metadata) - 1
        log.setRetention(retention)
        let bar = ProgressBar("compacting", .bytes)
        defer { bar.finish() }
        let report: CompactionReport
        do {
            report = try log.compact { progress in
                bar.update(progress.completedByteCount, of: progress.byteCount)
                return true
            }
        } catch {
            try? log.close()
            throw error
        }
        try log.close()
        return report
    }
}
