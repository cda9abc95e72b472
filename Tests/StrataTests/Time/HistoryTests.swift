import CoreData
import Foundation
import Testing

@Suite struct HistoryTests {
    private func history(
        _ context: NSManagedObjectContext, after token: NSPersistentHistoryToken?,
        _ type: NSPersistentHistoryResultType = .transactionsAndChanges
    ) throws -> Any? {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = type
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    @Test(arguments: StoreKind.allCases) func everySaveIsInTheHistory(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait {
            context.name = "import"
            context.transactionAuthor = "author"
            let thing = insert("Thing", context)
            thing.setValue("text", forKey: "string")
            try context.save()
            thing.setValue(5, forKey: "int16")
            try context.save()
            context.delete(thing)
            try context.save()
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            let all = try #require(try history(other, after: nil) as? [NSPersistentHistoryTransaction])
            #expect(all.map { $0.changes?.map(\.changeType) } == [[.insert], [.update], [.delete]])
            #expect(all.allSatisfy { $0.author == "author" && $0.contextName == "import" })
            #expect(all[1].changes?[0].updatedProperties?.map(\.name) == ["int16"])
            #expect(all[2].changes?[0].tombstone?["string"] as? String == "text")
            #expect(all[2].changes?[0].tombstone?.count == 1)
            #expect(Set(all.compactMap { $0.changes?[0].changedObjectID }).count == 1)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.transactionNumber < $1.transactionNumber })
            let archived = try NSKeyedArchiver.archivedData(withRootObject: all[0].token, requiringSecureCoding: true)
            let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archived)
            #expect(token == all[0].token)
            let rest = try #require(try history(other, after: token) as? [NSPersistentHistoryTransaction])
            #expect(rest.map(\.transactionNumber) == all.dropFirst().map(\.transactionNumber))
            #expect(try history(other, after: token, .count) as? Int == 2)
            #expect(store.coordinator.currentPersistentHistoryToken(fromStores: nil) == all.last?.token)
            #expect((try history(other, after: token, .objectIDs) as? [NSManagedObjectID])?.count == 2)
            #expect(try history(other, after: rest.last?.token, .statusOnly) as? Bool == true)
        }
    }
}
