import Foundation
import StrataLog

extension StoreHandle {
    /// Reserves consecutive primary keys of a root entity, or of the pairs of a many-to-many relationship, and returns
    /// the first.
    ///
    /// - Throws: `CocoaError` 134030 when so many are not left.
    package func allocateKeys(root: UInt16, count: Int) throws -> UInt64 {
        do throws(StoreError) {
            return try log.allocateKeys(root: root, count: count)
        } catch {
            let name = map.shape(root).map { " of \($0.name)" } ?? ""
            var error = error
            error.message = "No new object\(name) can be numbered: " + error.message
            throw StoreFailure.cocoaError(error, saving: self)
        }
    }
}
