import ArgumentParser
import Foundation
import Strata
import StrataIO
import StrataLog
import SystemPackage

/// Copies a store, also while a program writes it.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store, also while a program writes it.",
        discussion: """
            The copy is the store as it was at some moment while the command ran: every save that had returned before is \
            in it, and none in part. It is durable when the command ends, and there is none when it fails. It has the \
            UUID of the store.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The copy's directory, which must not exist yet.", completion: .directory)
    var destination: String
    @OptionGroup var output: OutputOptions

    func run() throws {
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
