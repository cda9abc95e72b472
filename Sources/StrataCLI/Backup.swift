import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import StrataShip
import SystemPackage

/// Copies a store, also while a program writes it.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store, also while a program writes it.",
        discussion: """
            The copy is the store as it was at some moment while the command ran: every save that had returned before is \
            in it, and none in part. It is durable when the command ends, and there is none when it fails. It has the \
            UUID of the store.

            With --to, the copy goes into a bucket: what was saved since the last backup there, with a checkpoint. \
            `restore` makes a store of it as it was after any transaction. `ship` does the same all the time.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The copy's directory, which must not exist yet.", completion: .directory)
    var destination: String?
    @Option(help: ArgumentHelp("Back up into a bucket instead. \(BucketURL.help)"))
    var to: String?
    @OptionGroup var ship: ShipArguments
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (destination == nil) != (to == nil) else {
            throw ValidationError("Say where the copy goes: either a directory, or --to and a bucket.")
        }
        let isForBucket =
            ship.takeOver || ship.onlyWriter || ship.keys.keyFile != nil || ship.keepDays != nil
            || ship.keepMebibytes != nil
        guard to != nil || !isForBucket else {
            throw ValidationError(
                "--take-over, --only-writer, --key-file, --keep-days and --keep-mebibytes are for --to.")
        }
    }

    func run() async throws {
        guard let to else { return try copy() }
        do {
            let shipper = LogShipper(
                storeAt: FilePath(argument.url.path), to: try BucketURL.open(to), options: try ship.options())
            try await shipper.shipOnce(withCheckpoint: true)
            await shipper.handOver()
            ShipArguments.write(shipper.status, output)
        } catch {
            throw CommandError.reported(error)
        }
    }

    private func copy() throws {
        guard let destination else { return }
        try reporting {
            let fileSystem = PosixFileSystem()
            let target = URL(fileURLWithPath: destination, isDirectory: true)
            let path = FilePath(target.path)
            guard try fileSystem.linkAttributes(path) == nil else {
                throw CommandError("\(target.path) is there already: a backup takes the place of nothing")
            }
            let progress = CopyProgress(from: FilePath(argument.url.path), to: path)
            defer { progress.finish() }
            try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
                at: target, withPersistentStoreFrom: argument.url, type: .sqlite)
            progress.finish()
            var options = LogOptions()
            options.access = .readOnly
            options.createsIfMissing = false
            let copy = try LogStore.open(path, in: fileSystem, options: options, schema: nil)
            let transaction = Int(copy.snapshot.sequence)
            try copy.close()
            let byteCount = CopyProgress.byteCount(path)
            output.write([("transaction", .count(transaction)), ("bytes", .bytes(byteCount))])
        }
    }
}
