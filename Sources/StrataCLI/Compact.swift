import ArgumentParser
import Foundation
import Strata
import StrataIO
import StrataLog
import SystemPackage

/// Takes back the space of what was deleted or replaced.
struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what was deleted or replaced from a store's log.",
        discussion: """
            Nobody else may have the store open for writing; readers may. What readers look at goes from the disk when \
            they let go of it. Points of the past before now may expire by it; the history stays.
            """)

    @OptionGroup var argument: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try reporting { try compact() }
        output.write([
            ("segments", report.segments), ("freedBytes", report.freedByteCount),
            ("writtenBytes", report.writtenByteCount),
        ])
    }

    private func compact() throws -> CompactionReport {
        var options = LogOptions()
        options.createsIfMissing = false
        options.compaction.isAutomatic = false
        let log = try LogStore.open(FilePath(argument.url.path), in: PosixFileSystem(), options: options, schema: nil)
        var retention = log.retention
        retention.historyFloor = HistoryMetadata.start(log.metadata) - 1
        log.setRetention(retention)
        let bar = ProgressBar("compacting")
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
