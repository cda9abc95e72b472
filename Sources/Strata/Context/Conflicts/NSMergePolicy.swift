public import Foundation

/// Decides how a save resolves conflicts with the store: rows newer than those the changes are based on, and duplicate
/// values under a uniqueness constraint.
///
/// A subclass overrides one of the `resolve` methods, examines the conflicts, and calls `super` to resolve them by its
/// ``mergeType``; it may then change the conflicting objects further. When the method returns, the save runs again with
/// the objects as they are then: an object that the method left alone overwrites the row. If the method throws, the
/// save fails with that error.
///
/// Thread rule: a save calls its policy on the context's queue. One policy may serve several contexts, so a subclass
/// must guard its mutable state.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Unchecked, as an open class has to be: the only state is constant.

    /// How conflicts are resolved.
    open var mergeType: NSMergePolicyType { ownType }
    private let ownType: NSMergePolicyType

    /// Creates a policy that resolves conflicts as the type says.
    public init(merge type: NSMergePolicyType) {
        ownType = type
    }

    private static let sharedError = NSMergePolicy(merge: .errorMergePolicyType)
    private static let sharedRollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    private static let sharedOverwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let sharedObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let sharedStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

    /// The save fails with error 133020 or 133021, whose `NSPersistentStoreSaveConflictsErrorKey` has the conflicts.
    open class var error: NSMergePolicy { sharedError }
    /// The context's changes of the objects in conflict are given up; inserted ones that break a constraint leave the
    /// context.
    open class var rollback: NSMergePolicy { sharedRollback }
    /// The whole of each object in conflict is written as the context has it.
    open class var overwrite: NSMergePolicy { sharedOverwrite }
    /// Property by property; where both changed, the context's value wins. An inserted object that breaks a constraint
    /// becomes the stored one with the values that were set.
    open class var mergeByPropertyObjectTrump: NSMergePolicy { sharedObjectTrump }
    /// Property by property; where both changed, the store's value wins. An inserted object that breaks a constraint
    /// becomes the stored one.
    open class var mergeByPropertyStoreTrump: NSMergePolicy { sharedStoreTrump }

    /// Resolves all conflicts of a save: hands the ``NSMergeConflict``s among them to
    /// ``resolve(optimisticLockingConflicts:)``, then the ``NSConstraintConflict``s to
    /// ``resolve(constraintConflicts:)``.
    ///
    /// - Throws: what these throw.
    open func resolve(mergeConflicts list: [Any]) throws {
        let locking = list.compactMap { $0 as? NSMergeConflict }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !locking.isEmpty { try resolve(optimisticLockingConflicts: locking) }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts with newer rows as ``mergeType`` says.
    ///
    /// With any type but the error, a deletion in the store wins over an update; an update in the store is lost to a
    /// deletion in the context with object trump and overwrite, and brings the object back with the other two.
    ///
    /// - Throws: `CocoaError` 133020 with the conflicts if the type is the error; the store's error when a row cannot
    ///   be read.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard !list.isEmpty else { return }
        if mergeType == .errorMergePolicyType { throw ConflictErrors.merge(list) }
        for conflict in list { try ObjectMerge.resolve(conflict.sourceObject, mergeType) }
    }

    /// Resolves conflicts about values that must be unique as ``mergeType`` says.
    ///
    /// - Throws: `CocoaError` 133021 with the conflicts if the type is the error; the store's error when a row cannot
    ///   be read.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        guard !list.isEmpty else { return }
        if mergeType == .errorMergePolicyType { throw ConflictErrors.constraint(list) }
        // A policy of the program's own may have deleted what is not to be merged.
        list.first?.conflictingObjects.first?.registry?.context?.pipeline.followDeletions()
        for conflict in list { try ConstraintMerge(mergeType).resolve(conflict) }
    }

    /// Whether no code of the program's own sees the objects of conflicts.
    var isStandard: Bool { Swift.type(of: self) == NSMergePolicy.self }

    /// The policy's merge type.
    override open var description: String { "NSMergePolicy(\(mergeType))" }
}

/// As ``NSMergePolicy/error``.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// As ``NSMergePolicy/rollback``.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
/// As ``NSMergePolicy/overwrite``.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// As ``NSMergePolicy/mergeByPropertyObjectTrump``.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// As ``NSMergePolicy/mergeByPropertyStoreTrump``.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
