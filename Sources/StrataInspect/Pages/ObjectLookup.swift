import Foundation
import HTTPTypes
import Strata
import StrataBrowsing

/// Objects by the ends of their URIs: `Person/p12`.
enum ObjectLookup {
    /// - Throws: ``InspectError`` for what names no object of the store; what the context throws where it is gone.
    static func object(
        _ name: String, _ session: Session, _ context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let store = session.coordinator.persistentStores.first?.identifier ?? ""
        guard parts.count == 2, let url = URL(string: "x-coredata://\(store)/\(name)"),
            let id = session.coordinator.managedObjectID(forURIRepresentation: url)
        else {
            throw InspectError(
                .notFound, "\(CellMarkup.cut(name, 200)) names no object of this store: write Entity/p1, for instance")
        }
        return try context.existingObject(with: id)
    }
}
