import StrataIO
import StrataLog
import SystemPackage
import Testing

/// The examples of the engine's reference, run. `GuideDocumentTests` holds that it shows nothing else.
@Suite struct EngineExampleTests {
    @Test func aRowIsWrittenAndRead() throws {
        let fileSystem = MemoryFileSystem()
        let schema = Schema(entities: [
            EntityLayout(id: 1, rootID: 1, name: "Book", slots: [SlotLayout(.string), SlotLayout(.int64)])
        ])
        let store = try LogStore.open("/store", in: fileSystem, schema: schema)
        let transaction = store.makeTransaction()
        let books = transaction.writer(for: 1)
        let key = try store.allocateKeys(root: 1, count: 1)
        books.beginInsert(key: key)
        books.set(0, "The Dispossessed")
        books.set(1, Int64(341))
        books.endRow()
        let receipt = try store.commit(transaction)
        let row = try receipt.snapshot.row(ObjectRef(entity: 1, key: key))
        let title = try row.map { try $0.block.column(0).string($0.index) }
        try store.close()
        #expect(title == "The Dispossessed")
        try change(key, in: try LogStore.open("/store", in: fileSystem, schema: schema))
    }

    private func change(_ key: UInt64, in store: LogStore) throws {
        let row = try #require(try store.snapshot.row(ObjectRef(entity: 1, key: key)))
        let update = store.makeTransaction()
        let changed = update.writer(for: 1)
        try changed.beginUpdate(key: key, replacing: row.version, changed: SlotSet([1]))
        changed.set(0, "The Dispossessed")
        changed.set(1, Int64(387))
        changed.endRow()
        _ = try store.commit(update)
        let newest = try #require(try store.snapshot.row(ObjectRef(entity: 1, key: key)))
        #expect(try newest.block.column(1).int64(newest.index) == 387)
        try store.close()
    }
}
