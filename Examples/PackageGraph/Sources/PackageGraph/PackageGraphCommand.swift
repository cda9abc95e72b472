import ArgumentParser
import CoreData
import DebianIndex
import Foundation

/// Imports a Debian package index into a store, opens the store again, asks it questions and replays its history.
@main
struct PackageGraphCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packagegraph",
        abstract: "Keeps a Debian package index as an object graph and asks it questions.",
        discussion: """
            Without --file it reads the lists that apt-get update has fetched, else dpkg's list of installed packages, \
            else a small sample. Progress goes to standard error, results to standard output.
            """)

    @Option(help: ArgumentHelp("Read this index, plain or LZ4-compressed.", valueName: "path"))
    var file: String?

    @Option(
        help: ArgumentHelp("The package to look into (default: build-essential, or the neediest).", valueName: "name"))
    var package: String?

    @Option(help: ArgumentHelp("Make the store here and keep it (default: temporary).", valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("How many objects to save at a time.", valueName: "count"))
    var batch = 10_000

    func validate() throws {
        guard batch > 0 else { throw ValidationError("--batch has to be at least 1.") }
    }

    func run() async throws {
        let source = file.map { IndexSource(path: $0) } ?? IndexSource.discover()
        let (index, parseTime) = try read(source)
        let subject = try Subject.choose(package, in: index)
        let place = try StoreLocation(path: store)
        defer { place.removeIfTemporary() }
        let cleanup = InterruptCleanup(place)
        defer { withExtendedLifetime(cleanup) {} }

        let imported = try await importGraph(index, at: place)
        let clock = ContinuousClock()
        let opening = clock.now
        // A second container reads what the first one left on disk.
        let graph = try GraphStore(at: place.url)
        let openTime = clock.now - opening
        let context = graph.container.newBackgroundContext()
        try await context.perform {
            try Answers(context: context).print(about: subject, openTime: openTime)
            try HistoryCheck(context: context).print()
        }
        try graph.close()
        Summary(
            statistics: index.statistics, parseTime: parseTime, imported: imported, storeBytes: place.byteCount(),
            keptPath: place.isTemporary ? nil : place.url.path
        ).print()
    }

    private func read(_ source: IndexSource) throws -> (PackageIndex, Duration) {
        print("Reading \(source.summary)")
        let clock = ContinuousClock()
        let start = clock.now
        let index = try PackageIndex.read(source.paths)
        let duration = clock.now - start
        let realCount = index.packages.count - index.virtualPackageCount
        print(
            """
              \(Text.bytes(index.statistics.rawByteCount)) in \(Text.duration(duration)): \
            \(Text.count(realCount)) packages, \(Text.count(index.virtualPackageCount)) virtual packages, \
            \(Text.count(index.dependencies.count)) dependencies
            """)
        if index.statistics.supersededCount > 0 {
            print("  \(Text.count(index.statistics.supersededCount)) stanzas with an older version left out")
        }
        return (index, duration)
    }

    private func importGraph(_ index: PackageIndex, at place: StoreLocation) async throws -> Importer.Outcome {
        print("Importing into \(place.url.path), \(Text.count(batch)) objects a save, each durable when it returns")
        let graph = try GraphStore(at: place.url)
        let context = graph.container.newBackgroundContext()
        let batch = batch
        let outcome = try await context.perform {
            let progress = ProgressBar(total: index.objectCount)
            defer { progress.finish() }
            var importer = Importer(context: context, batchSize: batch) { progress.update($0) }
            return try importer.run(index)
        }
        try graph.close()
        print(
            """
              \(Text.count(outcome.objectCount)) objects in \(Text.duration(outcome.duration)), \
            \(Text.rate(outcome.objectCount, outcome.duration)), \(outcome.saveCount) \(outcome.saveCount == 1 ? "save" : "saves")
            """)
        return outcome
    }
}
