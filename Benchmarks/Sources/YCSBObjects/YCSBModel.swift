import Strata
import YCSBLoad

/// One entity, whose key is unique and has an index.
enum YCSBModel {
    static let fieldNames = (0..<YCSB.fieldCount).map { "field\($0)" }

    static let shared: NSManagedObjectModel = {
        let user = NSEntityDescription()
        user.name = "User"
        user.managedObjectClassName = String(reflecting: YCSBUser.self)
        user.properties = (["key"] + fieldNames).map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = false
            return attribute
        }
        let elements = user.properties.prefix(1)
            .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        user.indexes = [NSFetchIndexDescription(name: "by_key", elements: elements)]
        user.uniquenessConstraints = [["key"]]
        let model = NSManagedObjectModel()
        model.entities = [user]
        return model
    }()
}
