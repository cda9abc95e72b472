import CoreData
import Foundation

public struct Notebook: Sendable {
    public let container: NSPersistentContainer

    public init(at url: URL) throws {
        container = NSPersistentContainer(name: "Notes", managedObjectModel: notesModel)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }
}

extension Notebook {
    public func add(_ title: String, _ text: String, to folderName: String) async throws -> NSManagedObjectID {
        try await container.performBackgroundTask { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let note = Note(context: context)
            note.title = title
            note.text = text
            note.folder = try folder(folderName, in: context)
            try context.save()
            return note.objectID
        }
    }

    private func folder(_ name: String, in context: NSManagedObjectContext) throws -> Folder {
        let request = NSFetchRequest<Folder>(entityName: "Folder")
        request.predicate = NSPredicate(format: "name == %@", name)
        if let folder = try context.fetch(request).first { return folder }
        let folder = Folder(context: context)
        folder.name = name
        return folder
    }
}

extension Notebook {
    public func titles(containing word: String) async throws -> [String] {
        try await container.performBackgroundTask { context in
            let request = NSFetchRequest<Note>(entityName: "Note")
            request.predicate = NSPredicate(format: "text CONTAINS[cd] %@", word)
            request.sortDescriptors = [
                NSSortDescriptor(keyPath: \Note.stars, ascending: false),
                NSSortDescriptor(keyPath: \Note.title, ascending: true),
            ]
            request.fetchLimit = 20
            return try context.fetch(request).map { "\($0.folder?.name ?? "-"): \($0.title)" }
        }
    }
}

extension Notebook {
    public func star(_ id: NSManagedObjectID) async throws {
        try await container.performBackgroundTask { context in
            guard let note = try context.existingObject(with: id) as? Note else { return }
            note.stars += 1
            try context.save()
        }
    }

    public func starRepeatedly(_ id: NSManagedObjectID) async throws {
        while true {
            do {
                return try await star(id)
            } catch let error as CocoaError where error.code == .managedObjectMerge {
                continue
            }
        }
    }
}

extension Notebook {
    public func changes(
        since token: NSPersistentHistoryToken?
    ) async throws -> (lines: [String], token: NSPersistentHistoryToken?) {
        try await container.performBackgroundTask { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            let lines = transactions.flatMap { transaction in
                (transaction.changes ?? []).map { change in
                    "\(transaction.transactionNumber): \(change.changeType) \(change.changedObjectID.entity.name ?? "")"
                }
            }
            return (lines, transactions.last?.token ?? token)
        }
    }
}
