//
//  PersistenceController.swift
//  Trips
//

import CoreData

public final class PersistenceController {
    private class BundleToken {}

    public let container: NSPersistentContainer

    public init(inMemory: Bool = false) {
        guard let url = Bundle(for: BundleToken.self).url(forResource: "Trips", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { fatalError("The model is not there") }
        container = NSPersistentContainer(name: "Trips", managedObjectModel: model)
        if inMemory {
            container.persistentStoreDescriptions.first!.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores { _, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }
}
