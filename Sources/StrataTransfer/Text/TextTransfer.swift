public import Foundation
public import Strata
import StrataModelFile

/// Writes stores as text and makes stores of it: as JSON Lines, which hold a whole store with its model in one file or
/// stream, or as comma-separated values, one file for each entity.
///
/// A store that is made of the text of another one is equal to it: objects keep entity and primary key, the store its
/// UUID and metadata. The history stays behind. Used by one thread at a time.
///
/// ```swift
/// let transfer = TextTransfer()
/// _ = try transfer.writeJSONLines(store, to: dump.path)
/// _ = try transfer.readJSONLines(dump.path, to: copy)
/// ```
public struct TextTransfer: Sendable {
    /// What was written or read.
    public struct Report: Sendable, Equatable {
        /// Objects.
        public var objects = 0
        /// Links of relationships that are to-many at both ends.
        public var links = 0

        /// Nothing.
        public init() {}
    }

    /// How objects refer to each other: by URI unless an attribute names them.
    public var keys = ReferenceKeys()
    /// The entities that are written; all if there are none. Those that inherit from them come along.
    public var entities: [String] = []

    /// Everything, with references by URI.
    public init() {}

    // MARK: Out

    /// Writes JSON Lines.
    ///
    /// - Parameters:
    ///   - store: the store's directory.
    ///   - path: a file that does not exist yet; "-" for the standard output.
    /// - Returns: what was written.
    /// - Throws: ``TransferError``; `CocoaError` when the store cannot be read.
    /// - Complexity: O(n) with bounded memory.
    public func writeJSONLines(_ store: URL, to path: String) throws -> Report {
        let records = try RecordReader(try StoreReader(store), keys)
        let chosen = try chosen(records)
        let writer = try ByteWriter(path)
        var report = Report()
        try writer.write(JSONLines.text(try header(records.reader)))
        for rows in chosen {
            try records.forEach(rows, withSubentities: true) { record in
                try writer.write(JSONLines.text(record))
                report.objects += 1
            }
        }
        for links in self.links(records) {
            try records.forEachLink(links) { link in
                try writer.write(JSONLines.text(link))
                report.links += 1
            }
        }
        try writer.flush()
        return report
    }

    /// Writes comma-separated values: the objects of one entity to a file, or those of a whole store, with its model,
    /// to files in a directory.
    ///
    /// - Parameters:
    ///   - store: the store's directory.
    ///   - path: a file, "-" for the standard output, or a directory, that does not exist yet.
    /// - Returns: what was written.
    /// - Throws: ``TransferError``; `CocoaError` when the store cannot be read.
    /// - Complexity: O(n) with bounded memory.
    public func writeCSV(_ store: URL, to path: String) throws -> Report {
        let records = try RecordReader(try StoreReader(store), keys)
        var report = Report()
        if entities.count == 1, let rows = try chosen(records).first {
            try CSVFiles.write(rows, records, to: path, &report)
            return report
        }
        guard path != "-" else {
            throw TransferError("comma-separated values have the columns of one entity: name one")
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw TransferError("\(path) is there already: an export takes the origin of nothing")
        }
        let directory = URL(fileURLWithPath: path, isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try JSONLines.text(try header(records.reader)).write(
            to: directory.appendingPathComponent(CSVFiles.headerName), atomically: false, encoding: .utf8)
        let roots = try chosen(records)
        for rows in records.reader.layouts.rows
        where !rows.entity.isAbstract && roots.contains(where: { CSVFiles.isKind(rows.entity, of: $0.entity) }) {
            let file = directory.appendingPathComponent(rows.name + ".csv").path
            try CSVFiles.write(rows, records, to: file, &report)
        }
        for links in self.links(records) {
            let name = "\(links.ownerName).\(links.relationship.name)"
            let file = directory.appendingPathComponent(name + CSVFiles.linkSuffix).path
            try CSVFiles.write(links, records, to: file, &report)
        }
        return report
    }

    /// The entities to be written, without those that inherit from others of them.
    private func chosen(_ records: RecordReader) throws -> [RowLayouts.Rows] {
        let layouts = records.reader.layouts
        if entities.isEmpty { return layouts.rows.filter { $0.number == $0.root } }
        return try entities.map { name in
            guard let rows = layouts.rows(named: name) else { throw TransferError("there is no entity \(name)") }
            return rows
        }
    }

    /// Links are written with the whole store only.
    private func links(_ records: RecordReader) -> [RowLayouts.Links] {
        entities.isEmpty ? records.reader.layouts.links : []
    }

    private func header(_ reader: StoreReader) throws -> JSONLines.Header {
        let own = reader.metadata.filter { !$0.key.hasPrefix("NSStore") }
        return JSONLines.Header(
            uuid: reader.uuid, model: try CompiledModel.data(of: try reader.model.document()),
            metadata: try PropertyListSerialization.data(fromPropertyList: own, format: .binary, options: 0),
            keys: reader.greatestKeys)
    }

    // MARK: In

    /// Makes a store of JSON Lines. If this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - path: a file, or "-" for the standard input.
    ///   - url: the new store's directory, which must not exist yet.
    ///   - model: the model; nil for the one in the file.
    /// - Throws: ``TransferError`` with the line; `CocoaError` when the store cannot be made.
    /// - Complexity: O(n) with bounded memory; with attributes that name objects, their values are held.
    public func readJSONLines(
        _ path: String, to url: URL, model: NSManagedObjectModel? = nil
    ) throws -> Report {
        let lines = try LineReader(path)
        var first = try lines.next()
        var header = JSONLines.Header()
        if let bytes = first, case .header(let found) = try JSONLines.parse(bytes, "line 1") {
            header = found
            first = nil
        }
        let (model, settings) = try Self.start(header, model, path)
        guard keys.attributes.isEmpty || path != "-" else {
            throw TransferError("attributes that name objects need a file that can be read twice")
        }
        var report = Report()
        try StoreBuilder.build(at: url, model: model, settings) { builder in
            Self.reserve(header, builder)
            let inserter = try RecordInserter(builder, keys)
            if !keys.attributes.isEmpty {
                let lines = try LineReader(path)
                while let bytes = try lines.next() {
                    if case .object(let record) = try JSONLines.parse(bytes, "line \(lines.number)") {
                        try inserter.note(record)
                    }
                }
            }
            inserter.beginWriting()
            func insert(_ bytes: [UInt8]) throws {
                if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { return }
                let origin = "line \(lines.number)"
                switch try JSONLines.parse(bytes, origin) {
                case .header: throw TransferError("\(origin): a second header")
                case .object(let record): try inserter.insert(record)
                case .link(let link): try inserter.insert(link, origin)
                }
            }
            if let first { try insert(first) }
            while let bytes = try lines.next() { try insert(bytes) }
            report = inserter.report
        }
        return report
    }

    /// Makes a store of comma-separated values: of the directory that ``writeCSV(_:to:)`` makes, or of one entity's
    /// file. If this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - path: the directory, the file, or "-" for the standard input.
    ///   - url: the new store's directory, which must not exist yet.
    ///   - model: the model; nil for the one in the directory.
    /// - Throws: ``TransferError`` with file and line; `CocoaError` when the store cannot be made.
    /// - Complexity: O(n) with bounded memory; with attributes that name objects, their values are held.
    public func readCSV(_ path: String, to url: URL, model: NSManagedObjectModel? = nil) throws -> Report {
        let files = try CSVFiles(path, entity: entities.count == 1 ? entities[0] : nil)
        let (model, settings) = try Self.start(files.header, model, path)
        guard keys.attributes.isEmpty || path != "-" else {
            throw TransferError("attributes that name objects need a file that can be read twice")
        }
        var report = Report()
        try StoreBuilder.build(at: url, model: model, settings) { builder in
            Self.reserve(files.header, builder)
            let inserter = try RecordInserter(builder, keys)
            if !keys.attributes.isEmpty { try files.forEachRecord { try inserter.note($0) } }
            inserter.beginWriting()
            try files.forEachRecord { try inserter.insert($0) }
            try files.forEachLink { try inserter.insert($0, $1) }
            report = inserter.report
        }
        return report
    }

    /// Keys of objects that are not there any more are not given out again.
    private static func reserve(_ header: JSONLines.Header, _ builder: StoreBuilder) {
        for (name, key) in header.keys {
            if let rows = builder.layouts.rows(named: name) { builder.reserve(key, root: rows.root) }
        }
    }

    /// The model and what else a header says of the new store.
    private static func start(
        _ header: JSONLines.Header, _ given: NSManagedObjectModel?, _ path: String
    ) throws -> (NSManagedObjectModel, StoreBuilder.Settings) {
        var settings = StoreBuilder.Settings()
        settings.uuid = header.uuid.flatMap { UUID(uuidString: $0) }
        if let bytes = header.metadata {
            do {
                settings.metadata = try PropertyListFile.dictionary(bytes)
            } catch {
                throw TransferError("\(path): its metadata cannot be read: \(error)")
            }
        }
        if let given { return (given, settings) }
        guard let bytes = header.model else { throw TransferError("\(path): it does not say its model: name one") }
        return (try NSManagedObjectModel(anyCompiledModel: bytes, at: path), settings)
    }
}
