import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import StrataShip
import SystemPackage

/// Makes a store of what was shipped.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a store of what was shipped into a bucket.",
        discussion: """
            The store is as it was after a transaction (--at 12345), or after the last one before a time \
            (--at 2026-05-01T12:00:00). It is made beside its place, checked and renamed: it is there whole or not at \
            all, and never takes the place of another one.

            By default it is a fork: a store of its own, which can be shipped to another bucket. With --take-over it \
            goes on in the bucket in place of the store that was shipped, whose shipper stops; with --at, too, what \
            came later counts no more.
            """)

    @Argument(help: ArgumentHelp(BucketURL.help))
    var bucket: String
    @Argument(help: "The store's directory, which must not exist yet.", completion: .directory)
    var store: String
    @Option(help: "A transaction's number or a time. Default: the newest state.")
    var at: Point?
    @Flag(name: [.customLong("take-over")], help: "Go on in place of the store that was shipped.")
    var takeOver = false
    @Flag(help: "Make a store of its own. This is the default.")
    var fork = false
    @Flag(help: "Only say what would be restored.")
    var dryRun = false
    @Flag(help: "Leave out the check of the whole store. What is fetched is checked all the same.")
    var fast = false
    @Flag(help: "With --take-over: the bucket has no conditional writes.")
    var onlyWriter = false
    @OptionGroup var keys: BucketKeys
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if fork && takeOver { throw ValidationError("--fork and --take-over exclude each other") }
        if onlyWriter && !takeOver { throw ValidationError("--only-writer is for --take-over") }
        if dryRun && (takeOver || fast) {
            throw ValidationError("--dry-run changes nothing: --take-over and --fast exclude it")
        }
    }

    private var target: RestoreTarget {
        get throws {
            switch at {
            case nil: return .newest
            case .transaction(let number):
                guard number > 0 else { throw CommandError("transaction 0 is the empty store: nothing is restored") }
                return .transaction(UInt64(number))
            case .time(let date):
                let nanoseconds = date.timeIntervalSince1970 * 1e9
                guard abs(nanoseconds) < 9e18 else { throw CommandError("that time is out of range") }
                return .time(Int64(nanoseconds))
            }
        }
    }

    func run() async throws {
        do {
            if let url = URL(string: bucket), url.isFileURL, !FileManager.default.fileExists(atPath: url.path) {
                throw CommandError("there is no bucket at \(bucket)")
            }
            let restorer = LogRestorer(from: try BucketURL.open(bucket), cipher: try keys.cipher())
            let url = URL(fileURLWithPath: store, isDirectory: true)
            let path = FilePath(url.path)
            let plan: RestorePlan
            if dryRun {
                plan = try await restorer.plan(try target)
            } else {
                let bar = ProgressBar("restoring", .bytes)
                defer { bar.finish() }
                let progress = LockedProgress(bar)
                var options = RestoreOptions()
                options.target = try target
                options.takesOver = takeOver
                options.verifies = !fast
                options.onlyWriter = onlyWriter
                options.progress = { done, total in progress.update(Int(done), of: Int(total)) }
                let keepsIdentity = takeOver
                plan = try await restorer.restore(to: path, options: options) { log, path in
                    if keepsIdentity { try CopyIdentity.keep(log, at: path, in: PosixFileSystem()) }
                }
            }
            write(plan)
        } catch {
            throw CommandError.reported(error)
        }
    }

    private func write(_ plan: RestorePlan) {
        func time(_ transaction: RestorePlan.Transaction?) -> Cell {
            guard let transaction else { return .absent }
            return .text(
                Point.text(Date(timeIntervalSince1970: Double(transaction.timestampNanoseconds) / 1e9)))
        }
        output.write([
            ("transaction", plan.transaction.map { .count(Int($0.sequence)) } ?? .count(0)),
            ("time", time(plan.transaction)),
            ("nextTransaction", plan.next.map { .count(Int($0.sequence)) } ?? .absent), ("nextTime", time(plan.next)),
            ("objects", .count(plan.objects)), ("bytes", .bytes(Int(plan.bytes))),
        ])
    }
}

/// A bar that several threads report to.
private final class LockedProgress: Sendable {
    private let bar: ProgressBar
    private let lock = NSLock()

    init(_ bar: ProgressBar) {
        self.bar = bar
    }

    func update(_ done: Int, of total: Int) {
        lock.withLock { bar.update(done, of: total) }
    }
}
