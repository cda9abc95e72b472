// Inserts a Debian package index into SQLite, for comparison with Examples/PackageGraph.
//
//     packagegraph-sqlite [--batch N] [INDEX]
//
// Prints a line for each variant: name, seconds of inserting, rows a second, bytes of the closed database; tabs
// between.
import DebianIndex
import Foundation

func measure(_ variant: Variant, _ index: PackageIndex, batchSize: Int, in folder: URL) throws {
    let path = folder.appendingPathComponent("\(variant.name).sqlite").path
    let database = try Database(path: path)
    for pragma in variant.pragmas { try database.run("PRAGMA \(pragma)") }
    try database.run(RowImporter.tables)
    if variant.hasIndexes { try database.run(RowImporter.indexes) }
    var importer = RowImporter(database: database, batchSize: batchSize)
    let clock = ContinuousClock()
    let start = clock.now
    try importer.run(index)
    let duration = clock.now - start
    try check(database, index)
    database.close()
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let bytes = (attributes[.size] as? NSNumber)?.intValue ?? 0
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    print(
        variant.name, String(format: "%.3f", seconds), Int(Double(index.objectCount) / seconds), bytes, separator: "\t")
    try FileManager.default.removeItem(atPath: path)
}

/// Makes sure that a variant did the work it is timed for.
func check(_ database: Database, _ index: PackageIndex) throws {
    let tables = ["section", "maintainer", "package", "dependency"]
    let rows = try tables.reduce(0) { try $0 + database.integer("SELECT count(*) FROM \($1)") }
    let nameBytes = try database.integer("SELECT sum(length(CAST(name AS BLOB))) FROM package")
    let resolved = try database.integer("SELECT count(target) FROM dependency")
    guard rows == index.objectCount, nameBytes == index.packages.reduce(0, { $0 + $1.name.utf8.count }),
        resolved == index.dependencies.count(where: { $0.target != nil })
    else { throw Database.Failure(description: "the database does not hold what the index does") }
}

func run() throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    var batchSize = 10_000
    if let option = arguments.firstIndex(of: "--batch") {
        guard option + 1 < arguments.count, let count = Int(arguments[option + 1]), count > 0 else {
            throw Database.Failure(description: "--batch needs a number of rows")
        }
        batchSize = count
        arguments.removeSubrange(option...(option + 1))
    }
    let source = arguments.first.map { IndexSource(path: $0) } ?? IndexSource.discover()
    let index = try PackageIndex.read(source.paths)
    // On a disk, as the example's store; /tmp may be memory.
    let parent = FileManager.default.isWritableFile(atPath: "/var/tmp") ? "/var/tmp" : NSTemporaryDirectory()
    let folder = URL(fileURLWithPath: parent).appendingPathComponent("packagegraph-sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    for variant in Variant.all { try measure(variant, index, batchSize: batchSize, in: folder) }
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("packagegraph-sqlite: \(error)\n".utf8))
    exit(1)
}
