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
    var uuid: UUID? { statedUUID.flatMap { UUID(uuidString: $0) } }
    /// The text that it has for it.
    let statedUUID: String?
    let metadata: [String: Any]
    /// By their names, in capitals.
    let tables: [String: FileTable]
    /// Nil when no value lies outside of the file.
    let externalValues: ExternalValues?

    /// The history's entities have numbers from here on.
    private static let firstHistoryNumber: Int64 = 16_000
    /// What a model may take that a store keeps.
    static let maximumModelByteCount = 64 << 20
    /// What its metadata may take: it is small by nature.
    static let maximumMetadataByteCount = 16 << 20

    /// - Throws: ``TransferError`` when the file cannot be read, or is no store of Core Data's.
    init(_ url: URL) throws {
        self.url = url
        let source = try ForeignDatabase(url)
        database = try SQLiteFile.reading(source)
        externalValues = try source.externalValues()
        tables = try FileTable.all(in: database, url.path)
        for table in ["Z_PRIMARYKEY", "Z_METADATA"] where tables[table] == nil {
            throw TransferError("\(url.path): it is no store of Core Data's: there is no table \(table)")
        }
        entities = try Self.readEntities(database, url)
        (statedUUID, metadata) = try Self.readMetadata(database, url)
    }

    private static func readEntities(_ database: SQLiteFile, _ url: URL) throws -> [Int64: Entity] {
        func problem(_ what: String) -> TransferError { TransferError("\(url.path): Z_PRIMARYKEY \(what)") }
        var entities: [Int64: Entity] = [:]
        var names: Set<String> = []
        let statement = try database.prepare("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
        while try statement.step() {
            guard let number = statement.integer(0), let name = statement.string(1) else {
                throw problem("has a row whose number is no integer or whose name is no text")
            }
            guard number > 0, number < firstHistoryNumber else { continue }
            guard statement.isNull(2) || statement.integer(2) != nil, let greatestKey = statement.integer(3) else {
                throw problem("has for \(name) a Z_SUPER or Z_MAX that is no integer")
            }
            let entity = Entity(
                number: number, name: name, superNumber: statement.integer(2) ?? 0, greatestKey: greatestKey)
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

    private static func readMetadata(_ database: SQLiteFile, _ url: URL) throws -> (String?, [String: Any]) {
        let statement = try database.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1")
        guard try statement.step() else { throw TransferError("\(url.path): its table Z_METADATA is empty") }
        guard statement.isNull(0) || statement.string(0) != nil else {
            throw TransferError("\(url.path): Z_METADATA: Z_UUID is no text")
        }
        let uuid = statement.string(0)
        if statement.isNull(1) { return (uuid, [:]) }
        guard let bytes = statement.blob(1) else { throw TransferError("\(url.path): Z_METADATA: Z_PLIST is no data") }
        if bytes.isEmpty { return (uuid, [:]) }
        do {
            let limits = PropertyListLimits(byteCount: maximumMetadataByteCount)
            return (uuid, try PropertyListFile.dictionary(Data(bytes), limits))
        } catch {
            throw TransferError("\(url.path): its metadata cannot be read: Z_METADATA, Z_PLIST: \(error)")
        }
    }

    /// The model as the store keeps it, compressed.
    func modelCache() throws -> Data? {
        guard tables["Z_MODELCACHE"] != nil else { return nil }
        let statement = try database.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        guard try statement.step() else { return nil }
        if statement.isNull(0) { return nil }
        guard let bytes = statement.blob(0) else {
            throw TransferError("\(url.path): Z_MODELCACHE: Z_CONTENT is no data")
        }
        return bytes.isEmpty ? nil : Data(bytes)
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
}
