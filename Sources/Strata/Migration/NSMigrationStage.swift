import Foundation

/// One part of a staged migration: a ``NSLightweightMigrationStage`` or a ``NSCustomMigrationStage``.
///
/// Thread rule: as for ``NSPropertyMapping``.
open class NSMigrationStage: NSObject {
    /// A name for messages.
    open var label: String! = ""
}
