import CoreData

/// Names every symbol of the group "model" with its signature, so that none can vanish. Never run.
enum SurfaceModel {
    static func nsManagedObjectModel() {
        _ = { (object: NSManagedObjectModel) -> NSObject in object }
        _ = { (object: NSManagedObjectModel) -> any NSCoding in object }
        _ = { (object: NSManagedObjectModel) -> any NSCopying in object }
        _ = { (object: NSManagedObjectModel) -> any Sequence in object }
        _ = { (a0: [Bundle]?) -> NSManagedObjectModel? in NSManagedObjectModel.mergedModel(from: a0) }
        _ = { (a0: [NSManagedObjectModel]?) -> NSManagedObjectModel? in NSManagedObjectModel(byMerging: a0) }
        _ = { () -> NSManagedObjectModel in NSManagedObjectModel() }
        _ = { (a0: URL) -> NSManagedObjectModel? in NSManagedObjectModel(contentsOf: a0) }
        _ = { (object: NSManagedObjectModel) -> [String: NSEntityDescription] in object.entitiesByName }
        _ = { (object: NSManagedObjectModel) -> [NSEntityDescription] in object.entities }
        _ = { (object: NSManagedObjectModel, value: [NSEntityDescription]) -> Void in object.entities = value }
        _ = { (object: NSManagedObjectModel) -> [String] in object.configurations }
        _ = { (object: NSManagedObjectModel, a0: String?) -> [NSEntityDescription]? in
            object.entities(forConfigurationName: a0)
        }
        _ = { (object: NSManagedObjectModel, a0: [NSEntityDescription], a1: String) -> Void in
            object.setEntities(a0, forConfigurationName: a1)
        }
        _ = { (object: NSManagedObjectModel, a0: NSFetchRequest<any NSFetchRequestResult>?, a1: String) -> Void in
            object.setFetchRequestTemplate(a0, forName: a1)
        }
        _ = { (object: NSManagedObjectModel, a0: String) -> NSFetchRequest<any NSFetchRequestResult>? in
            object.fetchRequestTemplate(forName: a0)
        }
        _ = {
            (
                object: NSManagedObjectModel, a0: String, a1: [String: Any]
            ) -> NSFetchRequest<any NSFetchRequestResult>?
            in object.fetchRequestFromTemplate(withName: a0, substitutionVariables: a1)
        }
        _ = { (object: NSManagedObjectModel) -> [String: String]? in object.localizationDictionary }
        _ = { (object: NSManagedObjectModel, value: [String: String]?) -> Void in object.localizationDictionary = value
        }
        _ = { (a0: [Bundle]?, a1: [String: Any]) -> NSManagedObjectModel? in
            NSManagedObjectModel.mergedModel(from: a0, forStoreMetadata: a1)
        }
        _ = { (a0: [NSManagedObjectModel], a1: [String: Any]) -> NSManagedObjectModel? in
            NSManagedObjectModel(byMerging: a0, forStoreMetadata: a1)
        }
        _ = { (object: NSManagedObjectModel) -> [String: NSFetchRequest<any NSFetchRequestResult>] in
            object.fetchRequestTemplatesByName
        }
        _ = { (object: NSManagedObjectModel) -> Set<AnyHashable> in object.versionIdentifiers }
        _ = { (object: NSManagedObjectModel, value: Set<AnyHashable>) -> Void in object.versionIdentifiers = value }
        _ = { (object: NSManagedObjectModel, a0: String?, a1: [String: Any]) -> Bool in
            object.isConfiguration(withName: a0, compatibleWithStoreMetadata: a1)
        }
        _ = { (object: NSManagedObjectModel) -> [String: Data] in object.entityVersionHashesByName }
    }
}
