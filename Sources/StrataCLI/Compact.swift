import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Takes back the space of what was deleted or replaced.
struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what was deleted or replaced from a store's log.",
        discussion: """
            A program that has the store open for writing is asked to compact it, which it does from its next save on, or \
            within half a minute; Ctrl-C stops it. Readers do not matter. What readers look at goes from the disk when they let go of it. \
            Points of the past before now may expire by it; the history stays.
            """)

    @OptionGroup var argument: StoreArgument
    @Option(help: "For how many seconds a program is waited for that has the store and is asked to compact it.")
    var wait = 60.0
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard wait >= 0, wait <= 1e6 else { throw ValidationError("--wait is a number of seconds from 0 up.") }
    }

    func run() throws {
        let report = try reporting { try compact() }
        output.write([
            ("segments", .count(report.segments)), ("freedBytes", .bytes(report.freedByteCount)),
            ("writtenBytes", .bytes(report.writtenByteCount)),
        ])
    }

    // MARK: By who has it

    /// Who has the store.
    private var holder: String {
        let lock = try? PosixFileSystem().open(FilePath(argument.url.appendingPathComponent("LOCK").path), .read)
        return lock.flatMap { RunningProcess(lockedBy: $0) }.map { "\($0)" } ?? "another process"
    }

    private func ask() throws -> CompactionReport {
        let holder = holder
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        let log = try LogStore.open(FilePath(argument.url.path), in: PosixFileSystem(), options: options, schema: nil)
        defer { try? log.close() }
        let stop = StopSignal()
        guard let request = log.askForCompaction() else {
            stop.end()
            throw CommandError(
                "\(holder) has the store open for writing, and cannot be asked to compact it: this user may not write "
                    + "the store's file TAIL")
        }
        let result = Result { try report(of: request, log, holder, stop) }
        // Whatever ended the wait, nothing is left that is asked for.
        request.withdraw()
        stop.end()
        return try result.get()
    }

    /// Waits for what is asked for, and shows how it goes.
    private func report(
        of request: CompactionRequest, _ log: LogStore, _ holder: String, _ stop: StopSignal
    ) throws -> CompactionReport {
        let bar = ProgressBar("compacting", .bytes)
        defer { bar.finish() }
        let end = ContinuousClock.now + .seconds(wait)
        while !stop.isSet {
            switch request.answer {
            case .done(let report): return report
            case .running(let byteCount, let total): bar.update(byteCount, of: total)
            case .stopped:
                throw CommandError("\(holder) has stopped compacting: it closes the store, or another asked it")
            case .failed:
                throw CommandError("\(holder) could not compact the store: strata verify and doctor may say why")
            case nil where .now >= end:
                throw CommandError(
                    "\(holder) has the store open for writing, and has not begun to compact it in \(Int(wait)) s: it looks "
                        + "when it saves, or else every 15 s if nobody has set another time, and programs with an older Strata never do. It compacts by itself as it writes, and "
                        + "at once where it calls compact(_:progress:) of its coordinator; to compact from here, end it first"
                )
            case nil: break
            }
            guard try log.hasWriter() else {
                throw CommandError("\(holder) ended before it had compacted the store: compact it again")
            }
            usleep(20_000)
        }
        throw CommandError("stopped")
    }

    // MARK: Alone

    /// Nil for a store that another process has.
    private func open(_ options: LogOptions) throws -> LogStore? {
        do throws(StoreError) {
            return try LogStore.open(FilePath(argument.url.path), in: PosixFileSystem(), options: options, schema: nil)
        } catch  where error.code == .locked {
            return nil
        }
    }

    private func compact() throws -> CompactionReport {
        var options = LogOptions()
        options.createsIfMissing = false
        options.compaction.isAutomatic = false
        guard let log = try open(options) else { return try ask() }
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
