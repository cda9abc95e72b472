import Foundation

/// Brings a store from whatever version of a model it has to that of a coordinator, stage by stage. Give it to the
/// store as the option ``NSPersistentStoreStagedMigrationManagerOptionKey``.
///
/// Thread rule: as for ``NSPropertyMapping``; handlers run on the thread that adds the store.
open class NSStagedMigrationManager: NSObject {
    /// The stages, oldest first.
    open var stages: [NSMigrationStage] { ownStages }
    private var ownStages: [NSMigrationStage] = []
    /// In a handler, what has the store open.
    open internal(set) var container: NSPersistentContainer?

    /// A manager with stages, oldest first.
    public convenience init(_ stages: [NSMigrationStage]) {
        self.init()
        ownStages = stages
    }
}
