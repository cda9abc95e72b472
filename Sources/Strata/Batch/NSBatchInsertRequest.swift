public import Foundation

/// Inserts many objects at once, without a managed object for each.
///
/// Rows go straight into the log's columns. No context learns of them by itself: pass the IDs to
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``, or follow the history, which has them.
///
/// Values are named by the properties of the entity, and properties that are not given get their default values.
/// Another key, or a mandatory attribute without a value, is an error (134070, 1570). Beyond Core Data, to-one
/// relationships take an `NSManagedObjectID` or a saved object.
///
/// A request is one atomic transaction up to ``maximumObjectsPerTransaction`` objects or 256 MiB of values. A greater
/// one is committed in parts of that size, so that memory stays bounded: when a part fails, those before it stay.
///
/// ```swift
/// let insert = NSBatchInsertRequest(
///     entityName: "Book", objects: [["title": "Tehanu", "pages": 180], ["title": "Lavinia", "pages": 288]])
/// insert.resultType = .objectIDs
/// let result = try context.execute(insert) as? NSBatchInsertResult
/// let inserted = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(
///     fromRemoteContextSave: [NSInsertedObjectsKey: inserted], into: [reader])
/// ```
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private let givenName: String
    private let givenEntity: NSEntityDescription?
    /// The values of the objects, one dictionary for each.
    open var objectsToInsert: [[String: Any]]?
    /// Fills in the values of the next object. Returns true when there are no more; what the dictionary then holds is
    /// not inserted. The dictionary is the same one each time, emptied.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Sets the values of the next object. Returns true when there are no more; the object is then not inserted. The
    /// object is the same one each time, with its default values; it belongs to no context. Beyond Core Data, its
    /// to-one relationships whose inverse is to-many and not ordered can be set to saved objects of the context that
    /// executes the request.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result holds. Default ``NSBatchInsertRequestResultType/statusOnly``.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly
    /// An option of Strata: whether each object is validated as a save would, with
    /// ``NSManagedObject/validateForInsert()``. Default `false`, as in Core Data.
    open var appliesValidation = false
    /// An option of Strata: how many objects one transaction takes at most. Default 1,048,576.
    open var maximumObjectsPerTransaction = BatchLimits.maximumObjects

    /// Creates a request without an entity, which cannot be executed.
    @available(*, deprecated, message: "Use init(entityName:objects:).")
    override public convenience init() { self.init(entityName: "", objects: []) }

    /// Creates a request that inserts one object for each dictionary.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        givenName = entityName
        givenEntity = nil
        objectsToInsert = dictionaries
        super.init()
    }

    /// Creates a request that inserts one object for each dictionary.
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        givenName = entity.name ?? ""
        givenEntity = entity
        objectsToInsert = dictionaries
        super.init()
    }

    /// Creates a request that asks for one object after the other.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        objectsToInsert = nil
        dictionaryHandler = handler
    }

    /// Creates a request that asks for one object after the other.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entity: entity, objects: [])
        objectsToInsert = nil
        managedObjectHandler = handler
    }

    /// Creates a request that asks for one object after the other.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(entityName: entityName, objects: [])
        objectsToInsert = nil
        dictionaryHandler = handler
    }

    /// Creates a request that asks for one object after the other.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(entityName: entityName, objects: [])
        objectsToInsert = nil
        managedObjectHandler = handler
    }

    /// The name of the entity of the new objects.
    open var entityName: String { givenName }

    /// The entity of the new objects; nil until the request has been executed if it was created with a name.
    open var entity: NSEntityDescription? { givenEntity ?? resolvedEntity }
    final var resolvedEntity: NSEntityDescription?

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            givenEntity.map { NSBatchInsertRequest(entity: $0, objects: []) }
            ?? NSBatchInsertRequest(entityName: givenName, objects: [])
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        copy.appliesValidation = appliesValidation
        copy.maximumObjectsPerTransaction = maximumObjectsPerTransaction
        copy.affectedStores = affectedStores
        copy.timeLimit = timeLimit
        return copy
    }
}
