import Foundation

/// The predicate of a request with its constants folded.
struct FoldedPredicate {
    let predicate: NSPredicate?
    let folding: ConstantFolding
    /// What aggregates over all objects were found in.
    let snapshots: RequestSnapshots?

    init(_ predicate: NSPredicate?, _ folding: ConstantFolding, _ snapshots: RequestSnapshots?) {
        self.predicate = predicate
        self.folding = folding
        self.snapshots = snapshots
    }
}
