import Foundation

extension StoreReader {
    /// Reads a store with the model that it keeps.
    ///
    /// - Throws: `CocoaError` when there is no store or it cannot be read.
    package convenience init(_ url: URL) throws {
        try self.init(url, ModelShapes.of(NSManagedObjectModel(storedAt: url)))
    }
}

extension StoreBuilder {
    /// Makes a store of a model. Durable when it returns.
    ///
    /// - Parameter fill: inserts the rows.
    /// - Throws: `CocoaError` when something is there already, or the disk refuses; what `fill` throws. Nothing is
    ///   there then.
    package static func build(
        at url: URL, model: NSManagedObjectModel, _ settings: Settings, fill: (StoreBuilder) throws -> Void
    ) throws {
        try build(at: url, ModelShapes.of(model), settings, fill: fill)
    }
}
