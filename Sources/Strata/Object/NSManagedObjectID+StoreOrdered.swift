import Foundation
import StrataLog

extension NSManagedObjectID: StoreOrdered {
    /// Objects that are not saved come after all that are.
    package func storeOrder(relativeTo other: Any) -> ComparisonResult? {
        guard let other = other as? NSManagedObjectID else { return nil }
        if isTemporaryID != other.isTemporaryID { return isTemporaryID ? .orderedDescending : .orderedAscending }
        if ref.key == other.ref.key { return .orderedSame }
        return ref.key < other.ref.key ? .orderedAscending : .orderedDescending
    }
}
