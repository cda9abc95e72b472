import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// A record's body whose bytes are not those that were written, and still make sense: whoever reads it is told.
@Suite struct BodyDamageTests {
    /// A store whose transactions have an author, each of whose letters may be another one.
    private static func sample() throws -> (fileSystem: SimulatedFileSystem, store: LogStore) {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        for _ in 0..<3 { _ = try StoreTests.insert(store, 3, department: .null) }
        return (fileSystem, store)
    }

    /// Makes another author of the first one in a segment, from an offset on.
    private static func damage(
        _ segment: UInt32, from start: Int = 0, _ store: LogStore, _ fileSystem: SimulatedFileSystem
    ) throws {
        let path = store.snapshot.source.files.segment(segment)
        let contents = try fileSystem.contents(of: path)
        let author = Array("tests".utf8)
        let offset = try #require(
            (start..<contents.count - author.count).first { contents[$0..<$0 + author.count].elementsEqual(author) })
        try fileSystem.corrupt(path, .overwrite(offset: offset, Array("T".utf8)))
    }

    @Test func aSegmentIsNotCompactedByIt() throws {
        let (fileSystem, store) = try Self.sample()
        try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() }
        try store.close()
        try Self.damage(1, store, fileSystem)
        let reopened = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let error = #expect(throws: StoreError.self) { try reopened.segmentStatistics() }
        #expect(error?.code == .corruption && error?.segment == 1)
        #expect(throws: StoreError.self) { try reopened.compact() }
    }

    @Test func aPastStateIsNotMadeOfIt() throws {
        let (fileSystem, store) = try Self.sample()
        let source = store.snapshot.source
        try Self.damage(1, store, fileSystem)
        let reader = try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: 1, file: try source.file(segment: 1))
        var offset = SegmentHeader.byteCount
        var damaged = 0
        while let header = try reader.header(at: offset) {
            let record = LogRecord(header: header, offset: offset, reader: reader, source: source)
            do {
                _ = try record.bodyBytes()
            } catch {
                #expect(error.code == .corruption && error.offset == offset)
                damaged += 1
            }
            offset += header.byteCount
        }
        #expect(damaged == 1)
    }

    @Test func anArchiveIsNotReadFromIt() throws {
        let (fileSystem, store) = try Self.sample()
        #expect(try store.compact().segments == 1)
        var history = try store.history(after: 0)
        while let transaction = try history.next() { #expect(transaction.author == "tests") }
        try Self.damage(2, store, fileSystem)
        let error = #expect(throws: StoreError.self) {
            var history = try store.history(after: 0)
            while try history.next() != nil {}
        }
        #expect(error?.code == .corruption)
    }

    /// It is what is named then, since which pieces the record has is for it to say.
    @Test func verifyNamesItAndNoneOfItsPieces() throws {
        let (fileSystem, store) = try Self.sample()
        let start = store.snapshot.end
        _ = try StoreTests.insert(store, 3, department: .null)
        let source = store.snapshot.source
        let path = source.files.segment(start.segment)
        let reader = try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: start.segment,
            file: try source.file(segment: start.segment))
        let header = try #require(try reader.header(at: start.offset))
        try store.close()
        let block = start.offset + header.blocksOffset + 70
        for (damagesBody, place) in [(false, start.offset + header.blocksOffset), (true, nil)] as [(Bool, Int?)] {
            let image = fileSystem.fork()
            try image.corrupt(path, .flipByte(offset: block))
            if damagesBody { try Self.damage(start.segment, from: start.offset, store, image) }
            let problems = try LogStore.verifyFiles(StoreWorkload.path, in: image).problems
            #expect(problems.count == 1, "\(problems)")
            if let place {
                #expect(problems.first?.offset == place)
            } else {
                #expect(problems.first?.message.contains("body") == true, "\(problems)")
            }
        }
    }
}
