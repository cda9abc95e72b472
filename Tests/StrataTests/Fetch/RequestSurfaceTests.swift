import CoreData
import Foundation
import Testing

/// Names what clients name, with the types they expect.
@Suite struct RequestSurfaceTests {
    @Test func historyTypes() throws {
        let token: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(after:)
        let delete: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.deleteHistory(before:)
        #expect(token(Date()).token == nil && delete(Date()).fetchRequest == nil)
        let entities = [NSPersistentHistoryTransaction.entityDescription, NSPersistentHistoryChange.entityDescription]
        #expect(entities.compactMap { $0?.attributesByName.isEmpty } == [false, false])
        #expect(NSPersistentHistoryChange.fetchRequest?.entity === NSPersistentHistoryChange.entityDescription)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(NSPersistentHistoryTransaction.entityDescription(with: context) == nil)
        #expect(NSPersistentHistoryChange.entityDescription(with: context) == nil)
    }

    @Test func requestsAreCopied() throws {
        let insert = NSBatchInsertRequest(entityName: "A", objects: [["a": 1]])
        insert.resultType = .count
        let insertCopy = try #require(insert.copy() as? NSBatchInsertRequest)
        #expect(insertCopy.resultType == .count && insertCopy.objectsToInsert?.count == 1)
        let update = NSBatchUpdateRequest(entityName: "A")
        update.propertiesToUpdate = ["a": 1]
        update.includesSubentities = false
        let updateCopy = try #require(update.copy() as? NSBatchUpdateRequest)
        #expect(updateCopy.propertiesToUpdate?.count == 1 && !updateCopy.includesSubentities)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "A")
        let delete = NSBatchDeleteRequest(fetchRequest: fetch)
        delete.resultType = .resultTypeCount
        let deleteCopy = try #require(delete.copy() as? NSBatchDeleteRequest)
        #expect(deleteCopy.resultType == .resultTypeCount && deleteCopy.fetchRequest.entityName == "A")
        let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        history.resultType = .count
        let historyCopy = try #require(history.copy() as? NSPersistentHistoryChangeRequest)
        #expect(historyCopy.resultType == .count && historyCopy.fetchRequest === fetch)
    }

    @Test func indexPathsHaveSections() {
        var path = IndexPath(row: 3, section: 1)
        #expect(path == [1, 3] && path.section == 1 && path.row == 3 && path.item == 3)
        path.item = 5
        path.section = 2
        #expect(path == IndexPath(item: 5, section: 2))
    }

    @Test func aDelegateNeedImplementNothing() throws {
        final class Silent: NSObject, NSFetchedResultsControllerDelegate {}
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
            let silent = Silent()
            results.delegate = silent
            try results.performFetch()
            insert("Department", context).setValue("new", forKey: "title")
            context.processPendingChanges()
            #expect(results.sections?.map(\.name) == ["new"])
            #expect(results.sectionIndexTitles == ["N"])
        }
    }

    @Test func aDelegateMayNameSections() throws {
        final class Namer: NSObject, NSFetchedResultsControllerDelegate {
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                sectionIndexTitleForSectionName sectionName: String
            ) -> String? { sectionName == "b" ? nil : "<\(sectionName)>" }
        }
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait { () throws in
            for title in ["a", "b", "c"] { insert("Department", context).setValue(title, forKey: "title") }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
            let namer = Namer()
            results.delegate = namer
            try results.performFetch()
            #expect(results.sectionIndexTitles == ["<a>", "<c>"])
            #expect(results.section(forSectionIndexTitle: "<c>", at: 1) == 2)
            #expect(results.sections?[1].indexTitle == nil)
        }
    }
}
