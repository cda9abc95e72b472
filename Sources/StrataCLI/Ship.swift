import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import StrataShip
import SystemPackage

/// What `ship` and `backup --to` have in common.
struct ShipArguments: ParsableArguments {
    @Flag(
        help: """
            Ship in place of another store that has shipped there, whose shipper is fenced, or after the file \
            STORE.strata-ship-… was lost. The logs must fit together.
            """)
    var takeOver = false
    @Flag(
        help: """
            Ship to a bucket without conditional writes. Two shippers at once then destroy what is in it.
            """)
    var onlyWriter = false
    @Option(help: "Keep states of so many days in the bucket, and remove what only older ones need. Default: all.")
    var keepDays: Double?
    @Option(
        help: """
            Remove what only older states need, however young they are, when the log in the bucket has more than so \
            many MiB. Default: no limit.
            """)
    var keepMebibytes: Int?
    @OptionGroup var keys: BucketKeys

    func validate() throws {
        guard keepDays.map({ $0 > 0 && $0 <= 36_500 }) ?? true else {
            throw ValidationError("--keep-days is a positive number of days")
        }
        guard keepMebibytes.map({ (1...1 << 40).contains($0) }) ?? true else {
            throw ValidationError("--keep-mebibytes is a positive number")
        }
    }

    func options() throws -> ShipOptions {
        var options = ShipOptions()
        options.cipher = try keys.cipher()
        options.takesOver = takeOver
        options.onlyWriter = onlyWriter
        if keepDays != nil || keepMebibytes != nil {
            options.retention = ShipRetention(
                age: keepDays.map { .seconds($0 * 86_400) } ?? ShipRetention.unlimitedAge,
                byteMaximum: keepMebibytes.map { Int64($0) << 20 })
        }
        return options
    }

    /// Prints how far a log has been shipped.
    static func write(_ status: ShipStatus, _ output: OutputOptions) {
        output.write([
            ("transaction", .count(Int(status.sequence))), ("epoch", .count(Int(status.epoch))),
            ("pieces", .count(status.pieces)), ("bytes", .bytes(Int(status.pieceBytes))),
            ("gaps", .count(status.gaps)),
        ])
    }
}

/// Ships a store's log into a bucket while a program writes it.
struct Ship: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ship a store's log into a bucket, while a program writes it.",
        discussion: """
            What a program saves is in the bucket a moment later, and `restore` makes a store of it as it was after any \
            transaction. Runs until it is interrupted; then it ships what is there, with a checkpoint. One shipper at a \
            time writes a bucket: one that starts takes over from the one before it.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: ArgumentHelp(BucketURL.help))
    var bucket: String
    @OptionGroup var ship: ShipArguments
    @Flag(help: "Ship what is there and end.")
    var once = false
    @Option(help: "How often to look for something new, in seconds. Default: 1.")
    var interval: Double?
    @Option(help: "Compaction leaves so many MiB alone that are not shipped yet; 0 for none.")
    var slotMebibytes = 1024
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard interval.map({ (0.01...86_400).contains($0) }) ?? true else {
            throw ValidationError("--interval is 0.01 to 86400 seconds")
        }
        guard !once || interval == nil else { throw ValidationError("--once and --interval exclude each other") }
        guard (0...1 << 30).contains(slotMebibytes) else { throw ValidationError("--slot-mebibytes is 0 or more") }
    }

    func run() async throws {
        do {
            var options = try ship.options()
            options.interval = .seconds(interval ?? 1)
            options.slotMaximumBytes = Int64(slotMebibytes) << 20
            let shipper = LogShipper(
                storeAt: FilePath(argument.url.path), to: try BucketURL.open(bucket), options: options)
            if once {
                try await shipper.shipOnce(withCheckpoint: true)
                await shipper.handOver()
            } else {
                try await run(shipper)
            }
            ShipArguments.write(shipper.status, output)
        } catch {
            throw CommandError.reported(error)
        }
    }

    /// Ships until a signal comes.
    private func run(_ shipper: LogShipper) async throws {
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { shipper.stop() }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        let watch = Task {
            var told: String?
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                let status = shipper.status
                guard let problem = status.lastProblem, problem != told else { continue }
                told = problem
                let waiting = status.isFailing ? "; trying again" : ""
                Terminal.messages.write("strata: \(problem)\(waiting)\n")
                Terminal.messages.flush()
            }
        }
        defer { watch.cancel() }
        try await shipper.run()
    }
}
