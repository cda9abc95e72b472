import CoreData
import Foundation

package enum NotesModel {
    /// The model, as the plugin compiled it into this target's bundle.
    package static let shared: NSManagedObjectModel = {
        guard let url = Bundle.module.url(forResource: "Notes", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { fatalError("Notes.momd is not in the bundle") }
        return model
    }()
}
