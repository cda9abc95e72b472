import Foundation

/// The predicate of a request with its constants folded.
package struct FoldedPredicate {
    package let predicate: NSPredicate?
    package let folding: ConstantFolding
    /// What aggregates over all objects were found in.
    package let snapshots: RequestSnapshots?

    package init(_ predicate: NSPredicate?, _ folding: ConstantFolding, _ snapshots: RequestSnapshots?) {
        self.predicate = predicate
        self.folding = folding
        self.snapshots = snapshots
    }
}
