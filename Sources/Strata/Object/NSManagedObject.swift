public import Foundation
public import StrataLog
import StrataRuntime
import StrataSupport

/// An object of the graph: a row of the store, seen and changed through a context.
///
/// A realized object is a shared immutable row and an overlay of the values that were set. A fault has neither and
/// fetches its row when a value is first asked for. Subclasses give their properties typed accessors with
/// ``AttributeSlot``, ``ToOneSlot`` and ``ToManySlot``; key-value coding works over the same storage.
///
/// An object belongs to its context's queue. It may be released on any thread.
open class NSManagedObject: NSObject {
    // SAFETY: shapes are never freed.
    final unowned(unsafe) let shape: EntityShape
    /// What every object's save and release ask of the shape: reading it counts no references.
    final let summary: UnsafePointer<ShapeSummary>
    /// The shape's id, for accessors.
    @usableFromInline final let shapeID: UInt32
    // The properties that every access touches are not checked for overlapping accesses: an object belongs to one
    // queue, and none of the accesses calls out.
    @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags = .unobserved
    @exclusivity(unchecked) @usableFromInline final var overlay: Overlay?
    /// A block that the object has a reference to; see ``block``.
    @exclusivity(unchecked) @usableFromInline final var blockReference: Unmanaged<Block>?
    /// The row in `block`; of a fault, where the batch that it was made for may find it (``FaultBatch``,
    /// ``RecentFaults``).
    @exclusivity(unchecked) @usableFromInline final var row: UInt32 = 0
    /// A registry that the object has a reference to; see ``registry``.
    @exclusivity(unchecked) final var registryReference: Unmanaged<ObjectRegistry>?
    /// Temporary (entity number 0) until the object has been saved.
    @exclusivity(unchecked) final var ref: ObjectRef
    /// What the object has in its store; see ``version`` and ``reservedRef``.
    @exclusivity(unchecked) final var standing = RowStanding.none
    /// Which of the registry's stores the object lives in; 0 while it is temporary. Here it takes no memory: the
    /// standing leaves room.
    @exclusivity(unchecked) final var storeIndex: UInt16 = 0
    @exclusivity(unchecked) final var cachedID: NSManagedObjectID?
    /// One state for each relationship of the shape, empty until a to-many relationship is used.
    @exclusivity(unchecked) final var toMany: ContiguousArray<ToManyState?> = []

    /// Creates an object and inserts it into a context, if one is given.
    ///
    /// Objects that are read from a store are made by this initialiser. A subclass that has a designated initialiser of
    /// its own overrides this one, too, unless none of its objects is ever read: the program then stops where one is.
    ///
    /// - Parameters:
    ///   - entity: the entity. One of another model stands for the entity of that name in the context's model: programs
    ///     often load a model more than once.
    ///   - context: where the object is inserted; nil for none.
    /// - Precondition: the entity is in a model and not abstract.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        let reference = EntityShape.reference(of: entity, for: context)
        shape = reference.withBorrowed { $0 }
        summary = reference.withBorrowed { $0.summary }
        shapeID = reference.withBorrowed { $0.id }
        ref = TemporaryRefs.next()
        super.init()
        takeEntitysClass()
        // SAFETY: the caller holds the context. References to one are slow to count, as weak ones lead to it.
        if let context { Unmanaged.passUnretained(context).withBorrowed { $0.insertNew(self) } }
    }

    /// Creates an object outside of any context: of the entity that the class stands for in the models in use, or, if
    /// there is none, of one without name and properties.
    ///
    /// Programs make such objects to stand for others in tests.
    public override convenience init() {
        self.init(entity: Self.standingEntity ?? ModelShapes.nameless.entity, insertInto: nil)
    }

    deinit {
        // The reference is given up last. Objects that leave together have one between them.
        var hasReference = true
        if flags.contains(.registered), let registryReference {
            hasReference = registryReference.withBorrowed { $0.removeDying(self) }
        }
        if !flags.contains(.unobserved) { ObservedObjects.remove(self) }
        overlay?.free(summary)
        blockReference?.release()
        if hasReference { registryReference?.release() }
    }

    // MARK: Identity

    /// The object's entity.
    public final var entity: NSEntityDescription { shape.entity }

    /// The object's ID: temporary until it is saved.
    public final var objectID: NSManagedObjectID {
        if let cachedID { return cachedID }
        if storeIndex == ObjectRegistry.unsavedIndex { return unsavedID() }
        let identity = storeIndex == 0 ? nil : registry?.handle(storeIndex)?.identity
        let id = NSManagedObjectID(ref: ref, identity: identity, shape: shape)
        cachedID = id
        return id
    }

    /// The context that the object belongs to; nil when it was never inserted, when its deletion has been saved, and
    /// after the context has gone or been reset.
    public final var managedObjectContext: NSManagedObjectContext? { registry?.context }

    /// Agrees with equality.
    override open var hash: Int { Self.addressHash(of: self) }

    /// Whether the other object is this one.
    override open func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        return isReference(object, to: self) ?? super.isEqual(object)
    }

    /// Class, address, entity, ID and values. Fires no fault, neither the object's nor one of its relationships.
    override open var description: String { describe() }

    // MARK: State

    /// Whether the object will be inserted by the next save.
    public final var isInserted: Bool { flags.contains(.inserted) && !flags.contains(.deleted) }

    /// Whether the object has changes that the next save will write.
    public final var isUpdated: Bool { flags.contains(.updated) && !flags.contains(.deleted) }

    /// Whether the object will be deleted by the next save. So it says of itself in `prepareForDeletion()`, too.
    public final var isDeleted: Bool { !flags.isDisjoint(with: [.deleted, .preparingDeletion]) }

    /// Whether the object has been deleted: not yet in `prepareForDeletion()`, after which its deletion is listed.
    final var isMarkedDeleted: Bool { flags.contains(.deleted) }

    /// Whether the object is inserted, updated or deleted.
    public final var hasChanges: Bool { !flags.isDisjoint(with: .pending) }

    /// Whether the values have not been read from the store yet, or the object's deletion has been saved.
    public final var isFault: Bool { isUnread || flags.contains(.deletionSaved) }

    /// Whether the values have still to be read. Those of an object whose deletion has been saved are there, if they
    /// were there before.
    final var isUnread: Bool {
        !flags.contains(.realized) && (storeIndex != 0 || flags.contains(.inserted))
    }

    /// 0 for an object whose values are there, 1 for a fault.
    public final var faultingState: Int { isFault ? 1 : 0 }

    // MARK: Life cycle

    /// Called once, when the object has been inserted into a context for the first time.
    open func awakeFromInsert() {}

    /// Called each time the object has been realized from its row. What is set here is not a change.
    open func awakeFromFetch() {}

    /// Called when a snapshot of the object is put back, for the reasons given.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called when the object is about to be deleted from its context.
    open func prepareForDeletion() {}

    /// Called on each inserted, updated and deleted object before a save. What is set here is saved.
    open func willSave() {}

    /// Called on each inserted, updated and deleted object after a save.
    open func didSave() {}

    /// Called before the object gives up its values.
    open func willTurnIntoFault() {}

    /// Called after the object has given up its values.
    open func didTurnIntoFault() {}

    /// Whether a change of a property that is not in the model leaves the object unchanged. Default `true`.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: Validation

    /// Checks the object before it is inserted. An override calls `super` first.
    ///
    /// - Throws: `CocoaError` with a validation code; several problems become one error with code 1560.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks the object before it is updated. An override calls `super` first.
    ///
    /// - Throws: as for ``validateForInsert()``.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks the object before it is deleted: nothing may be left of relationships with the deny rule.
    ///
    /// - Throws: `CocoaError` with code 1600; for several relationships 1560.
    open func validateForDelete() throws { try validateDenyRules() }

    /// Checks whether a property could have a value: what the model says about it, then the class's validator of the
    /// property, if there is one; see ``KeyValidator``. A save calls it for each property of an inserted or updated
    /// object, if the class overrides it or has validators.
    ///
    /// - Parameters:
    ///   - value: may be given another value, which then is the one to set. In a save it is set at once, and the object
    ///     is validated again.
    ///   - key: the name of the property.
    /// - Throws: `CocoaError` with a validation code.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        let rules = shape.validation
        if let property = rules.key(key) {
            let given = value.pointee is NSNull ? nil : value.pointee
            if let given { try rules.checkType(given, property, self) }
            try rules.check(given, property, self)
        }
        if let validator = rules.validator(key) { try validator.body(self, value) }
    }

    /// The class's methods that validate one property each, by its name: the Swift form of `validate<Key>`. See
    /// ``KeyValidator``.
    open class var keyValidators: [String: KeyValidator] { [:] }

    // MARK: Key-value coding

    /// The value of a property: what its accessor returns. Fires the fault.
    ///
    /// An accessor that the class declares itself is found in modules that use the plugin `ManagedAccessors`, for
    /// properties that the model does not have, too.
    /// - Precondition: there is a property of this name, or the class overrides ``value(forUndefinedKey:)``.
    open func value(forKey key: String) -> Any? {
        if hasOwnAccessors, let value = valueOfOwnAccessor(key) { return value }
        if flags.contains(.observable) { reportAccess(key) }
        return keyedValue(key)
    }

    /// Sets the value of a property; for a relationship, with its inverse.
    ///
    /// - Precondition: the entity has a property of this name that takes the value, or the class overrides
    ///   ``setValue(_:forUndefinedKey:)``.
    open func setValue(_ value: Any?, forKey key: String) {
        if !setByOwnAccessor(value, key) { setKeyedValue(value, key) }
    }

    /// The value at the end of a dotted path, with collection operators (`@count`, `@sum.x`). Nil on the way makes the
    /// whole path nil; a collection on the way is mapped over.
    ///
    /// - Complexity: O(n) in the number of objects that the path passes through.
    open func value(forKeyPath keyPath: String) -> Any? { KeyValueAccess.value(of: self, forKeyPath: keyPath) }

    /// Sets the property that a dotted path leads to; nothing happens when an object on the way is nil. A to-many
    /// relationship on the way sets the property of all its objects.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { setKeyedValue(value, path: keyPath) }

    /// The values of several properties, with `NSNull` for nil.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets several properties; `NSNull` stands for nil.
    open func setValuesForKeys(_ values: [String: Any]) {
        for (key, value) in values { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// A to-many relationship as a mutable set. It is live: what is done to it is done to the relationship, with the
    /// inverse, and what is done to the relationship shows in it.
    ///
    /// Counting and adding do not read the members. A cast to a Swift `Set` gives an empty one, since Foundation's
    /// bridging on Linux knows only its own classes: use ``value(forKey:)`` or `allObjects`.
    /// - Precondition: the entity has an unordered to-many relationship of this name.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { liveSet(key) }

    /// An ordered to-many relationship as a mutable ordered set. It is live; see ``mutableSetValue(forKey:)``.
    ///
    /// - Precondition: the entity has an ordered to-many relationship of this name.
    /// - Complexity: O(n).
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { liveOrderedSet(key) }

    /// The value of a property as the object holds it, for accessors that announce accesses themselves.
    ///
    /// Does not fire the fault: a fault has no values. Call ``willAccessValue(forKey:)`` first.
    open func primitiveValue(forKey key: String) -> Any? {
        checkQueue()
        return primitive(key)
    }

    /// Sets the value of a property without a word to the context, for accessors that announce changes themselves.
    ///
    /// Without ``willChangeValue(forKey:)`` around it the object does not count as changed; the value is saved when
    /// something else of the object is. The inverse of a relationship is kept all the same, and both ends count as
    /// changed, since both are one fact in the store.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        checkQueue()
        setPrimitive(value, key)
    }

    /// Called by ``setValue(_:forKey:)`` when a number or Boolean is set to nil, unless the plugin `ManagedAccessors`
    /// knows that the class declares the property as an optional. Sets it to null unless overridden.
    open func setNilValueForKey(_ key: String) { setKeyedNil(key) }

    /// Called for a name that the entity has no property for. Stops the program unless overridden; in a request, and
    /// in a predicate that was made with `NSPredicate(validating:)`, it ends that with an error instead.
    open func value(forUndefinedKey key: String) -> Any? {
        if EvaluationWork.fail(FetchProblem.unknownKey(key, shape, missing: key, owner: shape)) { return nil }
        programmerError(
            shape.subject,
            "the entity \(shape.name) is not key value coding-compliant for the key \"\(key)\""
                + "\(shape.suggestion(for: key))",
            "Name a property of the entity, or override this method")
    }

    /// Called for a name that the entity has no property for. Stops the program unless overridden.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        programmerError(
            shape.subject,
            "the entity \(shape.name) is not key value coding-compliant for the key \"\(key)\""
                + "\(shape.suggestion(for: key))",
            "Name a property of the entity, or override this method")
    }

    /// Fires the fault and tells whoever tracks accesses. For accessors over ``primitiveValue(forKey:)``; with nil it
    /// only fires the fault.
    open func willAccessValue(forKey key: String?) {
        if isUnread { realize() }
        guard let key else {
            // What programs do with each updated object before they merge a save, so that the object is there then.
            registry?.context?.holdUntilTheEventEnds([self])
            return
        }
        if flags.contains(.observable) { reportAccess(key) }
    }

    /// The counterpart of ``willAccessValue(forKey:)``; does nothing.
    open func didAccessValue(forKey key: String?) {}

    /// Announces a change that the object makes by itself: fires the fault, marks the object as changed if the model
    /// has the property (see ``contextShouldIgnoreUnmodeledPropertyChanges``), and tells observers.
    open func willChangeValue(forKey key: String) { announceChange(key) }

    /// Completes ``willChangeValue(forKey:)``.
    open func didChangeValue(forKey key: String) { completeChange(key) }

    /// As ``willChangeValue(forKey:)``, for a collection.
    open func willChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { willChangeValue(forKey: key) }

    /// As ``didChangeValue(forKey:)``, for a collection.
    open func didChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { didChangeValue(forKey: key) }

    /// As ``willChangeValue(forKey:)``, for an ordered collection.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        announceMembers(key, OrderedChange(changeKind, indexes))
        willChangeValue(forKey: key)
    }

    /// As ``didChangeValue(forKey:)``, for an ordered collection.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        didChangeValue(forKey: key)
        completeMembers(key)
    }

    // MARK: Observation

    /// Whether changes are announced to observers without ``willChangeValue(forKey:)``. False for every property of
    /// the model: its accessors announce changes by themselves.
    open class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
        !ModelShapes.shapes(ofClass: self).contains { $0.property(key) != nil }
    }

    /// The keys whose changes are announced as changes of this one, too: what the class's method or property
    /// `keyPathsForValuesAffecting<Key>` returns, if the plugin ManagedAccessors has found one.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        GeneratedAccessors.areThere ? GeneratedAccessors.record(of: self).summary.dependencies[key]?() ?? [] : []
    }

    /// Keeps a pointer of the program's with the object. Strata does not use it.
    open func setObservationInfo(_ observationInfo: UnsafeMutableRawPointer?) {
        ObservedObjects.setInfo(observationInfo, of: self)
    }

    /// What ``setObservationInfo(_:)`` was given last.
    open func observationInfo() -> UnsafeMutableRawPointer? { ObservedObjects.info(of: self) }

    // MARK: Class

    /// The entity that the class stands for. `NSManagedObject` itself stands for none: its entity has no name.
    ///
    /// A class that no entity of the models in use has, or more than one, stands for none either, which a warning
    /// says once for each class.
    open class func entity() -> NSEntityDescription {
        if self == NSManagedObject.self { return ModelShapes.nameless.entity }
        if let entity = standingEntity { return entity }
        Warnings.once(
            "\(self).entity() is an entity without a name: none, or more than one, of the entities in the models in use"
                + " has the class. Make the container or coordinator first, and name the class in one entity")
        return ModelShapes.nameless.entity
    }

    /// The one entity of the models in use that has the class; nil if there is none, or more than one.
    private class var standingEntity: NSEntityDescription? {
        if self == NSManagedObject.self { return nil }
        let shapes = ModelShapes.shapes(ofClass: self)
        // Several versions of one model may be in use; any of their entities answers to the same name.
        let tops = shapes.filter { shape in !shapes.contains { $0 !== shape && shape.isKind(of: $0) } }
        guard let shape = tops.last, tops.allSatisfy({ $0.name == shape.name }) else { return nil }
        return shape.entity
    }

    /// The name that the class has on Apple's platforms by `@objc(Name)`, and so in models. Nil by default.
    ///
    /// Models find a class by it in modules that use the plugin `ManagedAccessors`; elsewhere
    /// ``ManagedObjectClasses/register(_:)`` makes it known.
    open class var objectiveCName: String? { nil }

    /// The names of the properties that Swift key paths of the class stand for. Empty by default.
    ///
    /// The plugin `ManagedAccessors` names the properties that are declared `@NSManaged` by itself.
    ///
    /// `#Predicate`, `SortDescriptor` and `NSSortDescriptor(keyPath:ascending:)` name properties by Swift key paths,
    /// which know no names. A class whose objects are fetched with them says which key path is which property. A key
    /// path is found only under the class that it was written for, so a subclass lists what it inherits, too:
    ///
    ///     override class var propertyNames: [AnyKeyPath: String] {
    ///         [\Person.name: "name", \Person.employer: "employer"]
    ///     }
    open class var propertyNames: [AnyKeyPath: String] { [:] }

    /// A request for all objects of the class's entity. A method of this name in a subclass that returns a typed
    /// request is preferred where both would do.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity()
        return request
    }
}
