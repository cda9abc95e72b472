/// A step from one version of a model to the next, with code of the program's before and after it.
///
/// The step itself must be one that can be inferred; what cannot is done by the handlers: the first prepares the data
/// in the old model, the second completes it in the new one.
open class NSCustomMigrationStage: NSMigrationStage {
    /// The version that the stage begins with.
    open var currentModel: NSManagedObjectModelReference { ends.from }
    /// The version that it leads to.
    open var nextModel: NSManagedObjectModelReference { ends.to }
    private let ends: (from: NSManagedObjectModelReference, to: NSManagedObjectModelReference)

    /// Called before the step. The manager's container has the store open with the current model; its objects are plain
    /// `NSManagedObject`s, to be used by keys. Save what is to stay. What it throws ends the migration; the store keeps
    /// what was saved.
    open var willMigrateHandler:
        ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?
    /// Called after the step, with the next model; otherwise as ``willMigrateHandler``. If it throws, or the process
    /// dies before it has returned, it is not called again: the store has the next model then.
    open var didMigrateHandler:
        ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

    /// A stage from one version to another.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        ends = (currentModel, nextModel)
        super.init()
    }
}
