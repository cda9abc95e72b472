import Foundation

/// What a batch insert did.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the new objects (`[NSManagedObjectID]`), or how many there are.
    open var result: Any? { held }
    private let held: Any?
    /// The form of ``result``.
    open var resultType: NSBatchInsertRequestResultType { type }
    private let type: NSBatchInsertRequestResultType
    /// How many objects it was about, whatever ``resultType`` says.
    let objectCount: Int

    /// A result of nothing, for subclasses that stand in for one.
    override public init() {
        objectCount = 0
        (held, type) = (nil, .statusOnly)
        super.init()
    }

    init(_ outcome: BatchOutcome, _ type: NSBatchInsertRequestResultType) {
        self.type = type
        objectCount = outcome.count
        held =
            switch type {
            case .statusOnly: NSNumber(value: true)
            case .objectIDs: outcome.objectIDs
            case .count: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

/// What a batch update did.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the changed objects (`[NSManagedObjectID]`), or how many there are.
    open var result: Any? { held }
    private let held: Any?
    /// The form of ``result``.
    open var resultType: NSBatchUpdateRequestResultType { type }
    private let type: NSBatchUpdateRequestResultType
    /// How many objects it was about, whatever ``resultType`` says.
    let objectCount: Int

    /// A result of nothing, for subclasses that stand in for one.
    override public init() {
        objectCount = 0
        (held, type) = (nil, .statusOnlyResultType)
        super.init()
    }

    init(_ outcome: BatchOutcome, _ type: NSBatchUpdateRequestResultType) {
        self.type = type
        objectCount = outcome.count
        held =
            switch type {
            case .statusOnlyResultType: NSNumber(value: true)
            case .updatedObjectIDsResultType: outcome.objectIDs
            case .updatedObjectsCountResultType: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

/// What a batch delete did.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the deleted objects (`[NSManagedObjectID]`), or how many there are.
    open var result: Any? { held }
    private let held: Any?
    /// The form of ``result``.
    open var resultType: NSBatchDeleteRequestResultType { type }
    private let type: NSBatchDeleteRequestResultType
    /// How many objects it was about, whatever ``resultType`` says.
    let objectCount: Int

    /// A result of nothing, for subclasses that stand in for one.
    override public init() {
        objectCount = 0
        (held, type) = (nil, .resultTypeStatusOnly)
        super.init()
    }

    init(_ outcome: BatchOutcome, _ type: NSBatchDeleteRequestResultType) {
        self.type = type
        objectCount = outcome.count
        held =
            switch type {
            case .resultTypeStatusOnly: NSNumber(value: true)
            case .resultTypeObjectIDs: outcome.objectIDs
            case .resultTypeCount: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

extension NSBatchInsertResult: BatchResult {}
extension NSBatchUpdateResult: BatchResult {}
extension NSBatchDeleteResult: BatchResult {}

/// The result of a batch request of whatever kind.
protocol BatchResult {
    var objectCount: Int { get }
}

/// What a batch request touched.
struct BatchOutcome {
    var count = 0
    /// Gathered only if they are asked for.
    var objectIDs: [NSManagedObjectID] = []
}
