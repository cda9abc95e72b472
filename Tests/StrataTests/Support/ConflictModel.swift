import CoreData
import Foundation
import Testing

/// A model with uniqueness constraints and relationships of every kind, and what tests of conflicts do all the time.
enum ConflictModel {
    static func make() -> NSManagedObjectModel {
        let item = GraphModel.entity("Item")
        let special = GraphModel.entity("SpecialItem")
        let part = GraphModel.entity("Part")
        let label = GraphModel.entity("Label")
        let pair = GraphModel.entity("Pair")
        let parts = GraphModel.relationship("parts", to: part, toMany: true)
        let owner = GraphModel.relationship("owner", to: item)
        GraphModel.link(parts, owner)
        let labels = GraphModel.relationship("labels", to: label, toMany: true)
        let items = GraphModel.relationship("items", to: item, toMany: true)
        GraphModel.link(labels, items)
        item.properties = [
            GraphModel.attribute("code", .stringAttributeType), GraphModel.attribute("name", .stringAttributeType),
            GraphModel.attribute("count", .integer64AttributeType, default: 5), parts, labels,
        ]
        item.uniquenessConstraints = [["code"]]
        special.properties = [GraphModel.attribute("extra", .stringAttributeType)]
        item.subentities = [special]
        part.properties = [
            GraphModel.attribute("text", .stringAttributeType), GraphModel.attribute("note", .stringAttributeType),
            GraphModel.attribute("number", .integer64AttributeType), owner,
        ]
        label.properties = [GraphModel.attribute("text", .stringAttributeType), items]
        pair.properties = [
            GraphModel.attribute("left", .integer32AttributeType), GraphModel.attribute("right", .dateAttributeType),
            GraphModel.attribute("text", .stringAttributeType),
        ]
        pair.uniquenessConstraints = [["left", "right"]]
        let model = NSManagedObjectModel()
        model.entities = [item, special, part, label, pair]
        return model
    }
}

extension NSManagedObject {
    /// Sets several properties.
    func set(_ values: [String: Any?]) -> Self {
        for (key, value) in values { setValue(value, forKey: key) }
        return self
    }

    func text(_ key: String) -> String? { value(forKey: key) as? String }

    func number(_ key: String) -> Int? { value(forKey: key) as? Int }

    func members(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
}

func item(_ context: NSManagedObjectContext, _ values: [String: Any?]) -> NSManagedObject {
    insert("Item", context).set(values)
}

/// All objects of an entity as another context sees them.
func stored(_ entity: String, _ store: TestStore, sort: String) throws -> [NSManagedObject] {
    try fetchAll(NSManagedObject.self, entity, store.context(), sort: sort)
}

/// The error that a save is expected to throw.
func saveError(_ context: NSManagedObjectContext, _ location: SourceLocation = #_sourceLocation) -> CocoaError? {
    #expect(throws: CocoaError.self, sourceLocation: location) { try context.save() }
}

let resolvingPolicies: [NSMergePolicyType] = [
    .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
    .overwriteMergePolicyType, .rollbackMergePolicyType,
]

/// What notifications of one name from a context had under a key.
final class NotificationRecorder: @unchecked Sendable {
    // Unchecked: notifications are posted on the context's queue, where the test runs, too.
    private(set) var count = 0
    private(set) var objects: Set<NSManagedObject> = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, _ context: NSManagedObjectContext, _ key: String) {
        token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] in
            self?.count += 1
            self?.objects.formUnion($0.userInfo?[key] as? Set<NSManagedObject> ?? [])
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }
}
