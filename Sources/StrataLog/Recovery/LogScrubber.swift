internal import StrataSupport
internal import SystemPackage

/// Reads the segments of a log one by one and names every damaged place in them, those behind damage, too.
///
/// Nothing goes by what it reads, so that it needs no sound beginning: where a record cannot be read, it goes on with
/// the next one that can.
struct LogScrubber {
    private let source: BlockSource
    private(set) var report = VerifyReport()
    private var schemas: [NumberedSchema]
    /// Of the schemas.
    private var versions: Set<UInt16>

    /// The schemas that were given or read.
    var knownSchemas: [NumberedSchema] { schemas }

    /// - Parameter schemas: those that are known; what the log tells comes to them.
    init(_ source: BlockSource, schemas: [NumberedSchema]) {
        self.source = source
        self.schemas = schemas
        versions = Set(schemas.lazy.map(\.version))
        source.setSchemas(schemas)
    }

    /// Takes the schemas from a segment: a block may be read before what tells its shape, if that is damaged.
    ///
    /// - Throws: `.io`.
    mutating func readSchemas(_ reader: RecordReader) throws(StoreError) {
        var offset = SegmentHeader.byteCount
        while let header = try sound(reader, offset) {
            if [.preamble, .schema, .migration].contains(header.kind) { _ = try contents(header, reader, offset) }
            offset += header.byteCount
        }
    }

    /// Checks every byte of a segment that matters.
    ///
    /// - Throws: `.io`.
    mutating func scrub(_ reader: RecordReader) throws(StoreError) {
        report.segments += 1
        do throws(StoreError) {
            _ = try reader.segmentHeader()
        } catch {
            guard error.code != .io else { throw error }
            report.record(error)
        }
        var offset = SegmentHeader.byteCount
        var skipped = 0
        while offset + RecordHeader.byteCount <= reader.limit {
            guard let header = try sound(reader, offset) else {
                // Space that was reserved is zeros.
                if skipped == 0, try reader.isZero(from: offset) { return }
                skipped += Location.alignmentBytes
                offset += Location.alignmentBytes
                continue
            }
            reportGap(&skipped, before: offset, reader.segment)
            try scrub(header, reader, offset)
            offset += header.byteCount
        }
        reportGap(&skipped, before: offset, reader.segment)
    }

    private mutating func reportGap(_ byteCount: inout Int, before end: Int, _ segment: UInt32) {
        guard byteCount > 0 else { return }
        report.record(corrupt("\(byteCount) bytes in which no record can be read", segment, end - byteCount))
        byteCount = 0
    }

    private mutating func scrub(_ header: RecordHeader, _ reader: RecordReader, _ offset: Int) throws(StoreError) {
        guard let contents = try contents(header, reader, offset) else { return }
        report.records += 1
        report.byteCount += header.byteCount
        if case .transaction(_, let blocks) = contents.payload {
            report.transactions += 1
            report.blocks += blocks.count
            report.rows += blocks.reduce(0) { $0 + $1.block.rowCount }
        }
    }

    /// A record's contents; nil when it is damaged, which is noted.
    private mutating func contents(
        _ header: RecordHeader, _ reader: RecordReader, _ offset: Int
    ) throws(StoreError) -> RecordContents? {
        guard let bytes = try reader.record(header, at: offset) else {
            report.record(corrupt("the segment ends inside a record", reader.segment, offset))
            return nil
        }
        do throws(StoreError) {
            let contents = try RecordContents(
                bytes, header: header, segment: reader.segment, offset: offset, source: source)
            switch contents.payload {
            case .preamble(let storeState) where storeState.schemas.count >= schemas.count:
                schemas = storeState.schemas
                versions = Set(schemas.lazy.map(\.version))
            case .schema(let schema) where versions.insert(schema.version).inserted: schemas.append(schema)
            case .preamble, .schema, .transaction, .metadata, .compaction, .retirement: return contents
            }
            source.setSchemas(schemas)
            return contents
        } catch {
            guard error.code != .io else { throw error }
            let damaged = RecordContents.damagedPieces(
                bytes, header: header, segment: reader.segment, offset: offset, source: source)
            for error in damaged.isEmpty ? [error] : damaged { report.record(error) }
            return nil
        }
    }

    private func sound(_ reader: RecordReader, _ offset: Int) throws(StoreError) -> RecordHeader? {
        do throws(StoreError) {
            return try reader.header(at: offset)
        } catch {
            guard error.code != .io else { throw error }
            return nil
        }
    }

    private func corrupt(_ what: String, _ segment: UInt32, _ offset: Int) -> StoreError {
        StoreError(
            .corruption, what, path: source.files.segment(segment).string, segment: segment, offset: offset)
    }
}
