import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// The worked examples of the pages about the format are what the engine writes, byte for byte.
///
/// A change that fails this suite changes the format: raise its version, or write the old bytes again. Only when
/// neither is wanted are the pages changed.
@Suite struct WorkedExampleTests {
    private static let schema = Schema(entities: [
        EntityLayout(id: 1, rootID: 1, name: "Team", slots: [SlotLayout(.string)]),
        EntityLayout(
            id: 2, rootID: 2, name: "Person",
            slots: [
                SlotLayout(.int16), SlotLayout(.string, preservedInHistory: true),
                SlotLayout(.reference, postingsID: 1),
            ]),
    ])

    /// Does what the page says, and returns the store's files.
    private static func written() throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        var options = LogOptions()
        options.checkpointsInBackground = false
        options.newStoreUUID = StoreUUID(high: 0x1111_1111_1111_4111, low: 0x8222_2222_2222_2222)
        options.clock = { 1_700_000_000_000_000_000 }
        let store = try LogStore.open("/store", in: fileSystem, options: options, schema: schema)
        let first = store.makeTransaction()
        first.author = "me"
        let team = first.writer(for: 1)
        team.beginInsert(key: try store.allocateKeys(root: 1, count: 1))
        team.set(0, "Lab")
        team.endRow()
        let person = first.writer(for: 2)
        for (name, age) in [("Ada", 41), ("Grace", 36)] as [(String, Int16)] {
            person.beginInsert(key: try store.allocateKeys(root: 2, count: 1))
            person.set(0, age)
            person.set(1, name)
            person.set(2, ObjectRef(entity: 1, key: 1))
            person.endRow()
        }
        _ = try store.commit(first)
        let second = store.makeTransaction()
        let ada = try #require(try store.snapshot.row(ObjectRef(entity: 2, key: 1)))
        let change = second.writer(for: 2)
        try change.beginUpdate(key: 1, replacing: ada.version, changed: SlotSet([0]))
        change.set(0, Int16(42))
        change.set(1, "Ada")
        change.set(2, ObjectRef(entity: 1, key: 1))
        change.endRow()
        let grace = ObjectRef(entity: 2, key: 2)
        try second.delete(grace, replacing: try #require(try store.snapshot.row(grace)).version)
        _ = try store.commit(second)
        try store.close()
        return fileSystem
    }

    @Test func theFilesAreThoseOfThePage() throws {
        let fileSystem = try Self.written()
        let segment = try Self.bytes("00000001.seg")
        #expect(segment.keys.sorted() == Array(0..<0x540))
        expect(try fileSystem.contents(of: "/store/00000001.seg"), segment, "00000001.seg")
        let checkpoint = try Self.bytes("00000001.chk")
        #expect(checkpoint.keys.sorted() == Array(0..<0x21A))
        expect(try fileSystem.contents(of: "/store/00000001.chk"), checkpoint, "00000001.chk")
        // The slots go on with zeros.
        let manifest = try Self.bytes("MANIFEST")
        #expect(manifest.count == 128)
        let zeros = Dictionary(uniqueKeysWithValues: (0..<0x1200).map { ($0, UInt8(0)) })
        expect(try fileSystem.contents(of: "/store/MANIFEST"), zeros.merging(manifest) { $1 }, "MANIFEST")
    }

    @Test func theBlocksAreThoseOfThePage() throws {
        let layout = EntityLayout(
            id: 2, rootID: 2, name: "Person", slots: [SlotLayout(.int16), SlotLayout(.string), SlotLayout(.double)])
        func block(_ firstKey: UInt64, _ rows: [(Int16, String?, Double?)], at place: LogAddress) -> [UInt8] {
            let buffer = RowBuffer(layout: layout, schemaVersion: 1)
            for (index, row) in rows.enumerated() {
                buffer.beginRow(key: firstKey + UInt64(index))
                buffer.set(0, row.0)
                if let name = row.1 { buffer.set(1, name) }
                if let score = row.2 { buffer.set(2, score) }
                buffer.endRow()
            }
            var encoded = buffer.take().encode()
            encoded.stamp(at: place)
            return encoded.bytes
        }
        let uuid = StoreUUID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222)
        let plain = block(
            1, [(41, "Ada", 2.5), (36, "Grace", nil)],
            at: LogAddress(storeUUID: uuid, segment: 1, offset: 4_096, sequence: 7))
        expect(plain, try Self.bytes("plain-block"), "the plain block")
        let rows = (0..<32).map { index -> (Int16, String?, Double?) in
            let name = index % 2 == 0 ? "Ada" : "Grace"
            return (Int16(20 + index % 3), index == 3 ? nil : name, Double(100 + 5 * index))
        }
        let columns = block(10, rows, at: LogAddress(storeUUID: uuid, segment: 1, offset: 4_224, sequence: 8))
        expect(columns, try Self.bytes("columns-block"), "the block of columns")
    }

    /// The bytes of a file of `docs/worked-examples`: lines of an offset, a colon and up to 16 bytes, all hexadecimal,
    /// with what they mean behind a `#`, as `xxd -r` reads them.
    private static func bytes(_ name: String) throws -> [Int: UInt8] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appendingPathComponent("docs/worked-examples/\(name).hex")
        var bytes: [Int: UInt8] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            let offset = try #require(Int(words[0].dropLast(), radix: 16))
            for (index, word) in words.dropFirst().enumerated() {
                let byte = try #require(UInt8(word, radix: 16))
                bytes[offset + index] = byte
            }
        }
        return bytes
    }

    private func expect(_ found: [UInt8], _ page: [Int: UInt8], _ name: String) {
        #expect(found.count == page.count, "\(name) has another length than on the page: is this another format?")
        let differing = found.indices.filter { found[$0] != page[$0] }
        #expect(
            differing.isEmpty,
            """
            \(name) differs from the page at \(differing.prefix(8).map { String($0, radix: 16) }): if this is another \
            format, raise its version
            """)
    }
}
