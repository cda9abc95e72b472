public import Foundation

/// What a save does about rows that are newer in the store than those that its changes are based on.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Unchecked: the only state is constant.

    /// How conflicts are resolved.
    public let mergeType: NSMergePolicyType

    public init(merge type: NSMergePolicyType) {
        mergeType = type
    }

    /// The save fails with error 133020, whose `NSPersistentStoreSaveConflictsErrorKey` has the conflicts.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// The context's changes of the objects in conflict are given up.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    /// The whole of each object in conflict is written as the context has it.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// Property by property; where both changed, the context's value wins.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// Property by property; where both changed, the store's value wins.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

    override open var description: String { "NSMergePolicy(\(mergeType))" }
}

/// As ``NSMergePolicy/error``.
public let NSErrorMergePolicy: any Sendable = NSMergePolicy.error
/// As ``NSMergePolicy/rollback``.
public let NSRollbackMergePolicy: any Sendable = NSMergePolicy.rollback
/// As ``NSMergePolicy/overwrite``.
public let NSOverwriteMergePolicy: any Sendable = NSMergePolicy.overwrite
/// As ``NSMergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy: any Sendable = NSMergePolicy.mergeByPropertyObjectTrump
/// As ``NSMergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy: any Sendable = NSMergePolicy.mergeByPropertyStoreTrump
