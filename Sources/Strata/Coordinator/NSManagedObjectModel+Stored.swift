public import Foundation

extension NSManagedObjectModel {
    /// The model that a store was written with, as the store itself keeps it: for tools that look at stores of programs
    /// that they do not know. It can be changed as long as no coordinator has used it.
    ///
    /// Its classes need not be there in this program, nor its value transformers: name others before it is used. Reads
    /// beside a program that has the store open.
    ///
    /// - Parameter url: the store's directory.
    /// - Throws: `CocoaError` when there is no store, it cannot be read, or its model had no encoded form (a default
    ///   value or predicate that cannot be archived); `ModelError` when what is stored is damaged.
    public convenience init(storedAt url: URL) throws {
        let model = try StoreOpening.model(at: url)
        self.init()
        takeOver(model)
    }

    /// Every model that the objects of a store were saved with since it was made, the current one last: what a past
    /// generation was written with, and what a migration starts from.
    ///
    /// As ``init(storedAt:)`` otherwise; models without an encoded form are left out.
    ///
    /// - Parameter url: the store's directory.
    public static func models(storedAt url: URL) throws -> [NSManagedObjectModel] {
        try StoreOpening.models(at: url)
    }
}
