import Foundation
import Strata
import StrataModelFile

/// A store that Apple's Core Data wrote: a file of SQLite. Nothing in it is changed. Used by one thread at a time.
final class CoreDataFile {
    /// An entity as "Z_PRIMARYKEY" has it.
    struct Entity {
        let number: Int64
        let name: String
        let superNumber: Int64
        /// The greatest key that was ever given out; kept with root entities only.
        let greatestKey: Int64
    }

    let url: URL
    let database: SQLiteFile
    /// By number. Without those of the history.
    let entities: [Int64: Entity]
    let uuid: UUID?
    let metadata: [String: Any]
    /// The columns of every table, in capitals, by the name of the table, in capitals.
    let tables: [String: Set<String>]

    /// The history's entities have numbers from here on.
    private static let firstHistoryNumber: Int64 = 16_000
    /// What a model may take that a store keeps.
    static let maximumModelByteCount = 64 << 20

    /// - Throws: ``TransferError`` when the file cannot be read, or is no store of Core Data's.
    init(_ url: URL) throws {
        self.url = url
        database = try SQLiteFile.reading(url)
        tables = try Self.readTables(database)
        for table in ["Z_PRIMARYKEY", "Z_METADATA"] where tables[table] == nil {
            throw TransferError("\(url.path): it is no store of Core Data's: there is no table \(table)")
        }
        entities = try Self.readEntities(database, url)
        (uuid, metadata) = try Self.readMetadata(database, url)
    }

    private static func readEntities(_ database: SQLiteFile, _ url: URL) throws -> [Int64: Entity] {
        func problem(_ what: String) -> TransferError { TransferError("\(url.path): Z_PRIMARYKEY \(what)") }
        var entities: [Int64: Entity] = [:]
        var names: Set<String> = []
        let statement = try database.prepare("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
        while try statement.step() {
            let number = statement.integer(0)
            guard number > 0, number < firstHistoryNumber else { continue }
            let entity = Entity(
                number: number, name: statement.string(1), superNumber: statement.integer(2),
                greatestKey: statement.integer(3))
            guard names.insert(entity.name).inserted, entities.updateValue(entity, forKey: number) == nil else {
                throw problem("has the entity \(entity.name) (\(number)) twice")
            }
            guard entity.greatestKey >= 0, entity.greatestKey < 1 << 48 else {
                throw problem(
                    "says that \(entity.greatestKey) is the greatest key of \(entity.name), which is out of range")
            }
        }
        // Those whose ancestors are known to come to an end.
        var settled: Set<Int64> = []
        for entity in entities.values.sorted(by: { $0.number < $1.number }) {
            var ancestor = entity
            var line: Set<Int64> = []
            while ancestor.superNumber != 0, !settled.contains(ancestor.number) {
                guard line.insert(ancestor.number).inserted else {
                    throw problem("says that \(entity.name) inherits from itself")
                }
                guard let parent = entities[ancestor.superNumber] else {
                    throw problem(
                        "says that \(ancestor.name) inherits from the entity \(ancestor.superNumber), which there is not"
                    )
                }
                ancestor = parent
            }
            settled.formUnion(line)
        }
        return entities
    }

    private static func readTables(_ database: SQLiteFile) throws -> [String: Set<String>] {
        var tables: [String: Set<String>] = [:]
        // A view or a virtual table could do anything when it is read: only tables count.
        let statement = try database.prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%'")
        while try statement.step() {
            tables[statement.string(0).uppercased(), default: []].insert(statement.string(1).uppercased())
        }
        return tables
    }

    private static func readMetadata(_ database: SQLiteFile, _ url: URL) throws -> (UUID?, [String: Any]) {
        let statement = try database.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1")
        guard try statement.step() else { throw TransferError("\(url.path): its table Z_METADATA is empty") }
        let uuid = UUID(uuidString: statement.string(0))
        let bytes = Data(statement.blob(1))
        guard !bytes.isEmpty else { return (uuid, [:]) }
        guard let list = try? PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any] else {
            throw TransferError("\(url.path): its metadata cannot be read")
        }
        return (uuid, list)
    }

    /// Where large values lie that are not in the file itself.
    var externalDirectory: URL {
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The model as the store keeps it, compressed.
    func modelCache() throws -> Data? {
        guard tables["Z_MODELCACHE"] != nil else { return nil }
        let statement = try database.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        guard try statement.step() else { return nil }
        let bytes = Data(statement.blob(0))
        return bytes.isEmpty ? nil : bytes
    }

    /// The model that the store was written with.
    ///
    /// - Returns: nil when the store does not keep it, as those of before 2016 do not.
    /// - Throws: ``TransferError`` when it cannot be read.
    func model() throws -> NSManagedObjectModel? {
        guard let cache = try modelCache() else { return nil }
        do {
            let bytes = try Inflate.decompress(Array(cache), maximumByteCount: Self.maximumModelByteCount)
            return try NSManagedObjectModel(document: AppleModelFile(bytes).document)
        } catch {
            throw TransferError("\(url.path): the model that it keeps (Z_MODELCACHE) cannot be read: \(error)")
        }
    }

    /// Whether a file begins as databases of SQLite do.
    static func isSQLite(_ url: URL) -> Bool {
        guard let file = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }
}
