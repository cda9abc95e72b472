import Foundation
import StrataModelFile
import Testing

@testable import Strata

@Suite("What opening reads without Foundation")
struct StoredFormReadingTests {
    private static func model() -> StoredModel {
        var model = StoredModel(
            entities: [
                .init(name: "Person", number: 1, root: 1, slots: ["name", "a/b", "ü\"\\"], versionHash: Data(0..<32)),
                .init(name: "link a b", number: 65_535, root: 2, slots: [], versionHash: nil),
            ], postings: ["Person.department": 3], lastNumber: 9, lastPostings: 4, since: .max)
        model.versionIdentifiers = ["", "1.2 / 3"]
        return model
    }

    @Test("a stored model is read as the decoder reads it", arguments: 0..<5)
    func storedModels(byteCount: Int) throws {
        var model = Self.model()
        model.model = byteCount == 4 ? nil : Data((0..<byteCount + 250).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let bytes = try model.encoded()
        let read = try #require(StoredModelReader.model(bytes))
        #expect(read == model)
        #expect(try JSONDecoder().decode(StoredModel.self, from: Data(bytes)) == read)
    }

    @Test("what is left of a stored model, or follows it, is left to the decoder")
    func cutModels() throws {
        let bytes = try Self.model().encoded()
        for count in 0..<bytes.count { #expect(StoredModelReader.model(Array(bytes[..<count])) == nil) }
        #expect(StoredModelReader.model(bytes + [0x20]) == nil)
    }

    @Test("changed bytes are read as the decoder reads them, or left to it")
    func changedModels() throws {
        let bytes = try Self.model().encoded()
        for index in bytes.indices {
            for change: UInt8 in [1, 2, 16, 0x20, 0x80] {
                var changed = bytes
                changed[index] ^= change
                guard let read = StoredModelReader.model(changed) else { continue }
                let decoded = try? JSONDecoder().decode(StoredModel.self, from: Data(changed))
                #expect(decoded == read, "byte \(index) with \(change): \(String(decoding: changed, as: UTF8.self))")
            }
        }
    }

    private static var entries: [String: Any] {
        [
            "_StrataLineage": [
                "uuid": "6C0A8B0C-7F63-4C0B-9B57-0A2C2E0F1D11", "inode": NSNumber(value: 77),
                "created": NSNumber(value: Int64.max),
                "ancestors": (0..<20).map {
                    ["uuid": "\($0)", "sequence": NSNumber(value: $0 * 1_000)] as [String: Any]
                },
            ] as [String: Any],
            "_StrataHistory": ["start": NSNumber(value: 300), "consumers": ["a": NSNumber(value: 70_000)]]
                as [String: Any],
        ]
    }

    private static func list(_ entries: [String: Any]) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0))
    }

    @Test("the store's own entries are read as Foundation reads them")
    func ownEntries() throws {
        let read = try PropertyListFile.dictionary(try Self.list(Self.entries))
        #expect(NSDictionary(dictionary: read) == NSDictionary(dictionary: Self.entries))
        #expect(((read["_StrataLineage"] as? [String: Any])?["ancestors"] as? [[String: Any]])?.count == 20)
        #expect(try PropertyListFile.dictionary(try Self.list([:])).isEmpty)
    }

    @Test("so are entries of the program, and values of other kinds")
    func otherEntries() throws {
        let others: [(String, Any)] = [
            ("mine", "x"), ("_StrataX", Date()), ("_StrataX", NSNumber(value: true)), ("_StrataX", Data([1])),
            ("_StrataX", NSNumber(value: -1)), ("_StrataX", NSNumber(value: 1.5)), ("_StrataX", "ü"),
            ("_StrataX", NSNumber(value: UInt64.max)), ("_StrataX", String(repeating: "x", count: 70_000)),
        ]
        for (key, value) in others {
            var entries = Self.entries
            entries[key] = value
            let read = try PropertyListFile.dictionary(try Self.list(entries))
            #expect(NSDictionary(dictionary: read) == NSDictionary(dictionary: entries), "\(value)")
        }
    }

    @Test("damaged lists are read as something or not at all")
    func damagedLists() throws {
        let bytes = try Self.list(Self.entries)
        for count in 0..<bytes.count {
            #expect(throws: (any Error).self, "\(count)") { try PropertyListFile.dictionary(Array(bytes[..<count])) }
        }
        var refused = 0
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x0F, 0x7F, 0xA1, 0xDF, 0xFF] {
                var changed = bytes
                changed[index] = value
                if (try? PropertyListFile.dictionary(changed)) == nil { refused += 1 }
            }
        }
        #expect(refused > bytes.count)
    }
}
