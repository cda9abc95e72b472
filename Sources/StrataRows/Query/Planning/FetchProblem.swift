import Foundation

/// Makes the errors of requests that make no sense. Core Data raises an exception for most of these.
package enum FetchProblem {
    package static func error(_ text: String) -> any Error {
        DescribedError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// An error about the constants of a predicate.
    package static func comparison(_ text: String) -> any Error {
        DescribedError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text], isOfConstants: true)
    }

    /// - Parameters:
    ///   - missing: the name on the path that is not known.
    ///   - owner: the entity that does not have it.
    package static func unknownKey(
        _ path: String, _ shape: EntityShape, missing: String, owner: EntityShape
    ) -> any Error {
        let reason = owner === shape ? "" : ": \(owner.name) has no property named \(missing)"
        return error("keypath \(path) not found in entity \(shape.name)\(reason)\(owner.suggestion(for: missing))")
    }

    static func unknownEntity(_ name: String, _ shapes: ModelShapes) -> any Error {
        error(
            "could not locate an entity named '\(name)' in this model"
                + "\(Suggestion.text(for: name, among: shapes.byName.keys)).")
    }

    /// - Throws: `CocoaError` 134070 for a negative limit, offset or batch size.
    package static func checkWindow(limit: Int, offset: Int, batchSize: Int) throws {
        for (name, value) in [("fetchLimit", limit), ("fetchOffset", offset), ("fetchBatchSize", batchSize)]
        where value < 0 {
            throw error("\(name) of a fetch request is \(value); it must not be negative, 0 is for none.")
        }
    }
}
