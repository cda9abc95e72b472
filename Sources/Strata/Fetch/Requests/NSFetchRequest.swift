public import Foundation

/// Which objects are wanted, in which order and in which form.
///
/// `ResultType` is a class of managed objects, `NSManagedObjectID`, `NSDictionary` or `NSNumber`, or
/// `any NSFetchRequestResult` for requests whose results are cast later.
///
/// A request may be changed and used again; what has been fetched does not change with it. It belongs to whoever made
/// it: use it from one thread at a time.
///
/// ```swift
/// let request = NSFetchRequest<Book>(entityName: "Book")
/// request.predicate = NSPredicate(format: "title BEGINSWITH[cd] %@", "t")
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// request.fetchLimit = 20
/// ```
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSSecureCoding {
    /// But for the stores and the time limit, which all kinds of requests have.
    @exclusivity(unchecked) final private(set) var stored = FetchSettings()
    private let model = ExecutedModel()

    /// Creates a request that has no entity yet. One whose results are objects of a class finds the entity by it.
    override public init() {}

    /// Creates a request for the objects of an entity, which the context looks up.
    public convenience init(entityName: String) {
        self.init()
        stored.entityName = entityName
    }

    /// Creates a request that says the same with results of another type. Swift cannot cast one to the other.
    ///
    ///     NSFetchRequest<any NSFetchRequestResult>(converting: employees)
    public convenience init<Other>(converting request: NSFetchRequest<Other>) {
        self.init(request.settings)
    }

    convenience init(_ settings: FetchSettings) {
        self.init()
        stored = settings
        affectedStores = settings.namedStores
        timeLimit = settings.timeLimit
    }

    /// Reads a request that ``encode(with:)`` wrote. Nil when the coder has none, it is damaged, or the request had no
    /// encoding.
    public required convenience init?(coder: NSCoder) {
        guard let settings = FetchRequestCoding.settings(from: coder) else { return nil }
        self.init(settings)
    }

    /// Whether requests can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the request: names, predicates and options, as models keep their templates.
    ///
    /// A predicate made of a block, a sort descriptor with a comparator, expression descriptions and
    /// ``NSPersistentStoreRequest/affectedStores`` have no encoding: with one of these the reason is written in the
    /// request's place, under `fetchRequestProblem`, and reading gives nil.
    open func encode(with coder: NSCoder) {
        FetchRequestCoding.encode(settings, with: coder)
    }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        NSFetchRequest<ResultType>(settings)
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Whether another request says the same, whatever the type of its results.
    override open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? any AnyFetchRequest else { return false }
        return other === self || settings.saysTheSame(as: other.settings)
    }

    /// Changes with the request.
    override open var hash: Int {
        var hasher = Hasher()
        hasher.combine(stored.entityName)
        hasher.combine(stored.fetchLimit)
        hasher.combine(stored.fetchOffset)
        hasher.combine(stored.resultType.rawValue)
        return hasher.finalize()
    }

    /// Runs the request in the context that executes blocks on the calling queue.
    ///
    /// - Throws: `CocoaError` when the caller is not inside of a context's `perform`, otherwise as
    ///   `fetch(_:)`.
    open func execute() throws -> [ResultType] {
        guard let context = ContextQueue.currentContext else {
            throw FetchProblem.error("execute() works only inside of a context's perform.")
        }
        return try context.fetched(self)
    }

    // MARK: Which objects

    /// The entity whose objects are wanted. Nil for a request that has only its name until a context has executed it.
    open var entity: NSEntityDescription? {
        get { stored.entity ?? stored.entityName.flatMap { model.shapes?.shape(named: $0)?.entity } }
        set {
            stored.entity = newValue
            stored.entityName = newValue?.name
        }
    }

    /// The name of the entity.
    open var entityName: String? { stored.entityName }

    /// What the objects must satisfy; nil for all.
    open var predicate: NSPredicate? {
        get { stored.predicate }
        set { stored.predicate = newValue }
    }

    /// The order of the results; without it, the order in which the objects were first saved, with those that have not
    /// been saved at the end. Null comes first when ascending, as in SQLite, then numbers, strings and bytes.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { stored.sortDescriptors }
        set { stored.sortDescriptors = newValue }
    }

    /// The greatest number of results; 0 for no limit. A fetch with a negative one throws.
    open var fetchLimit: Int {
        get { stored.fetchLimit }
        set { stored.fetchLimit = newValue }
    }

    /// How many of the results are left out at the beginning. A fetch with a negative number throws.
    open var fetchOffset: Int {
        get { stored.fetchOffset }
        set { stored.fetchOffset = newValue }
    }

    /// Whether objects of entities that inherit from the entity are wanted, too. Default `true`.
    open var includesSubentities: Bool {
        get { stored.includesSubentities }
        set { stored.includesSubentities = newValue }
    }

    /// Whether changes that have not been saved count. Default `true`. Dictionaries are always made of what is stored.
    open var includesPendingChanges: Bool {
        get { stored.includesPendingChanges }
        set { stored.includesPendingChanges = newValue }
    }

    // MARK: In which form

    /// The form of the results.
    open var resultType: NSFetchRequestResultType {
        get { stored.resultType }
        set { stored.resultType = newValue }
    }

    /// Whether the rows of the results are made ready along with them. Default `true`. Without, each fault looks its
    /// row up when it fires, and ``returnsObjectsAsFaults`` does not count.
    open var includesPropertyValues: Bool {
        get { stored.includesPropertyValues }
        set { stored.includesPropertyValues = newValue }
    }

    /// Whether the results may be faults (the default) or have their values at once.
    open var returnsObjectsAsFaults: Bool {
        get { stored.returnsObjectsAsFaults }
        set { stored.returnsObjectsAsFaults = newValue }
    }

    /// How many rows are looked up together when a fault of the results fires; 0 leaves that to Strata.
    /// A fetch with a negative number throws.
    ///
    /// The results are faults in an ordinary array: a row is read when its object is first used. The first fault that
    /// fires finds the rows of its neighbours, too, so that theirs need no search of their own.
    open var fetchBatchSize: Int {
        get { stored.fetchBatchSize }
        set { stored.fetchBatchSize = newValue }
    }

    /// Key paths of relationships whose objects are read along: afterwards no fault fires on the way. Default empty.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { stored.relationshipKeyPathsForPrefetching }
        set { stored.relationshipKeyPathsForPrefetching = newValue }
    }

    /// Whether objects in memory take the values found in the store. Default `false`.
    open var shouldRefreshRefetchedObjects: Bool {
        get { stored.shouldRefreshRefetchedObjects }
        set { stored.shouldRefreshRefetchedObjects = newValue }
    }

    // MARK: Dictionaries

    /// Whether equal dictionaries appear once. Default `false`.
    open var returnsDistinctResults: Bool {
        get { stored.returnsDistinctResults }
        set { stored.returnsDistinctResults = newValue }
    }

    /// The properties of dictionaries: names, key paths through to-one relationships, attributes, to-one relationships
    /// and `NSExpressionDescription`s; nil for everything stored.
    open var propertiesToFetch: [Any]? {
        get { stored.propertiesToFetch }
        set { stored.propertiesToFetch = newValue }
    }

    /// The properties that dictionaries are grouped by; as for ``propertiesToFetch``.
    open var propertiesToGroupBy: [Any]? {
        get { stored.propertiesToGroupBy }
        set { stored.propertiesToGroupBy = newValue }
    }

    /// What groups must satisfy. May use what is grouped by, functions such as `sum:(age)`, and `$name` for a fetched
    /// expression.
    open var havingPredicate: NSPredicate? {
        get { stored.havingPredicate }
        set { stored.havingPredicate = newValue }
    }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        var parts = ["entity: \(entityName ?? "(null)")", "predicate: (\(predicate?.formatString ?? "(null)"))"]
        parts.append("sortDescriptors: (\(sortDescriptors.map { "\($0)" } ?? "(null)"))")
        if fetchLimit > 0 { parts.append("limit: \(fetchLimit)") }
        if fetchOffset > 0 { parts.append("offset: \(fetchOffset)") }
        if fetchBatchSize > 0 { parts.append("batch size: \(fetchBatchSize)") }
        parts.append("type: \(resultType.name)")
        return "<NSFetchRequest: \(addressDescription(self))> (\(parts.joined(separator: "; ")); )"
    }
}

extension NSFetchRequest: AnyFetchRequest {
    final var settings: FetchSettings {
        var settings = stored
        settings.affectedStores = affectedStores
        settings.timeLimit = timeLimit
        return settings
    }

    final var resultClass: Any.Type { ResultType.self }

    final func plan(in context: NSManagedObjectContext) throws -> FetchPlan { try context.plan(of: self) }

    /// Remembers the model that the entity's name is looked up in.
    final func isExecuted(with shapes: ModelShapes?) { model.record(shapes) }
}

extension NSFetchRequest: ContextExecutable {
    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let request = NSAsynchronousFetchRequest(fetchRequest: self)
        let result = NSAsynchronousFetchResult(request, context, progress: nil)
        result.finish(.success(try context.fetched(self)))
        return result
    }
}

extension NSFetchRequestResultType {
    /// As descriptions of requests print it.
    fileprivate var name: String {
        if contains(.countResultType) { return "NSCountResultType" }
        if contains(.managedObjectIDResultType) { return "NSManagedObjectIDResultType" }
        if contains(.dictionaryResultType) { return "NSDictionaryResultType" }
        return "NSManagedObjectResultType"
    }
}
