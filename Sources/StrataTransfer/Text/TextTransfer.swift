public import Foundation
public import Strata
import StrataLog
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
        /// References to objects that are not there, which were left out.
        public var dangling = 0

        /// Nothing.
        public init() {}
    }

    /// How objects refer to each other: by URI unless an attribute names them.
    public var keys = ReferenceKeys()
    /// The entities that are written; all if there are none. Those that inherit from them come along.
    public var entities: [String] = []
    /// Whether references to objects that are not in the text are left out when it is read; they are errors otherwise.
    /// The text has to be a file then, which can be read twice.
    public var leavesOutDanglingReferences = false

    /// Called for each object and link that is written or read, on the calling thread.
    package var onRecord: (@Sendable () -> Void)?

    /// Everything, with references by URI.
    public init() {}

    // MARK: Out

    /// Writes JSON Lines. A file has its name when this returns and is durable then; if this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - store: the store's directory.
    ///   - path: a file that does not exist yet; "-" for the standard output.
    /// - Returns: what was written.
    /// - Throws: ``TransferError``; `CocoaError` when the store cannot be read.
    /// - Complexity: O(n) with bounded memory.
    public func writeJSONLines(_ store: URL, to path: String) throws -> Report {
        let records = try RecordReader(try StoreReader(store), keys)
        records.onRecord = onRecord
        let chosen = try chosen(records)
        let writer = try ByteWriter(path, beginning: JSONLines.beginning)
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
        try writer.write(JSONLines.end(objects: report.objects, links: report.links))
        try writer.finish()
        return report
    }

    /// Writes comma-separated values: the objects of one entity to a file, or those of a whole store, with its model,
    /// to files in a directory. What is made has its name when this returns and is durable then; if this throws,
    /// nothing is there.
    ///
    /// - Parameters:
    ///   - store: the store's directory.
    ///   - path: a file, "-" for the standard output, or a directory, that does not exist yet.
    /// - Returns: what was written.
    /// - Throws: ``TransferError``; `CocoaError` when the store cannot be read.
    /// - Complexity: O(n) with bounded memory.
    public func writeCSV(_ store: URL, to path: String) throws -> Report {
        let records = try RecordReader(try StoreReader(store), keys)
        records.onRecord = onRecord
        var report = Report()
        if entities.count == 1, let rows = try chosen(records).first {
            let writer = try ByteWriter(path, beginning: RecordReader.uriColumn)
            report.objects = try CSVFiles.write(rows, records, to: writer)
            try writer.finish()
            return report
        }
        guard path != "-" else {
            throw TransferError("comma-separated values have the columns of one entity: name one")
        }
        var header = try header(records.reader)
        var names = CSVNames()
        let roots = try chosen(records)
        try UnfinishedDirectory.make(path, last: CSVFiles.headerName, suffix: CSVFiles.suffix) { directory in
            for rows in records.reader.layouts.rows
            where !rows.entity.isAbstract && roots.contains(where: { CSVFiles.isKind(rows.entity, of: $0.entity) }) {
                let writer = try directory.writer(names.file(for: [rows.name], suffix: CSVFiles.suffix))
                report.objects += try CSVFiles.write(rows, records, to: writer)
                try writer.finish()
            }
            for links in self.links(records) {
                let parts = [links.ownerName, links.relationship.name]
                let writer = try directory.writer(names.file(for: parts, suffix: CSVFiles.linkSuffix))
                report.links += try CSVFiles.write(links, records, to: writer)
                try writer.finish()
            }
            header.files = names.names
            return JSONLines.text(header)
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
        let own = reader.metadata.filter {
            !$0.key.hasPrefix("NSStore") && $0.key != StoreMetadata.frameworkVersionKey
        }
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
    /// - Throws: ``TransferError`` with line and column; `CocoaError` when the store cannot be made.
    /// - Complexity: O(n). In memory are a bit for each object, about 20 bytes for each link and, with attributes that
    ///   name objects, their values.
    public func readJSONLines(
        _ path: String, to url: URL, model: NSManagedObjectModel? = nil
    ) throws -> Report {
        try expectFile(path)
        let lines = try JSONLineReader(path)
        let (model, settings) = try Self.start(lines.header, model, path)
        var report = Report()
        try StoreBuilder.build(at: url, model: model, settings) { builder in
            Self.reserve(lines.header, builder)
            let inserter = try RecordInserter(builder, keys, leavesOutDangling: leavesOutDanglingReferences)
            inserter.onRecord = onRecord
            if readsTwice {
                try JSONLineReader(path).forEach { line in
                    if case .object(let record) = line { try inserter.register(record) }
                }
            }
            inserter.beginWriting()
            try lines.forEach { line in
                switch line {
                case .object(let record): try inserter.insert(record)
                case .link(let link): try inserter.insert(link)
                case .header, .end: break
                }
            }
            try expectAll(inserter) { missing in
                guard ByteReader.canReadTwice(path) else { return nil }
                var place: TextPlace?
                try JSONLineReader(path).forEach { line in
                    switch line {
                    case .object(let record): place = place ?? inserter.place(of: missing, in: record)
                    case .link(let link): place = place ?? inserter.place(of: missing, in: link)
                    case .header, .end: break
                    }
                }
                return place
            }
            report = inserter.report
        }
        return report
    }

    /// Whether all objects have to be known before the first one is written.
    private var readsTwice: Bool { !keys.attributes.isEmpty || leavesOutDanglingReferences }

    private func expectFile(_ path: String) throws {
        guard !ByteReader.canReadTwice(path) else { return }
        guard keys.attributes.isEmpty else {
            throw TransferError("attributes that name objects need a file that can be read twice")
        }
        guard !leavesOutDanglingReferences else {
            throw TransferError("leaving out references to what is not there needs a file that can be read twice")
        }
    }

    /// Refuses references to objects that have not come.
    private func expectAll(_ inserter: RecordInserter, _ find: (ObjectRef) throws -> TextPlace?) throws {
        guard let missing = inserter.missing else { return }
        throw inserter.error(missing: missing, try find(missing))
    }

    /// Makes a store of comma-separated values: of the directory that ``writeCSV(_:to:)`` makes, or of one entity's
    /// file. If this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - path: the directory, the file, or "-" for the standard input.
    ///   - url: the new store's directory, which must not exist yet.
    ///   - model: the model; nil for the one in the directory.
    /// - Throws: ``TransferError`` with file, line and column; `CocoaError` when the store cannot be made.
    /// - Complexity: O(n). In memory are a bit for each object, about 20 bytes for each link and, with attributes that
    ///   name objects, their values.
    public func readCSV(_ path: String, to url: URL, model: NSManagedObjectModel? = nil) throws -> Report {
        try expectFile(path)
        let files = try CSVFiles(path, entity: entities.count == 1 ? entities[0] : nil)
        let (model, settings) = try Self.start(files.header, model, path)
        var report = Report()
        try StoreBuilder.build(at: url, model: model, settings) { builder in
            Self.reserve(files.header, builder)
            let inserter = try RecordInserter(builder, keys, leavesOutDangling: leavesOutDanglingReferences)
            inserter.onRecord = onRecord
            if readsTwice { try files.forEachRecord { try inserter.register($0) } }
            inserter.beginWriting()
            try files.forEachRecord { try inserter.insert($0) }
            try files.forEachLink { try inserter.insert($0) }
            try expectAll(inserter) { missing in
                guard ByteReader.canReadTwice(path) else { return nil }
                var place: TextPlace?
                try files.forEachRecord { place = place ?? inserter.place(of: missing, in: $0) }
                try files.forEachLink { place = place ?? inserter.place(of: missing, in: $0) }
                return place
            }
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
