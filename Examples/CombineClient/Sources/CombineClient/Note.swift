public import CoreData

/// A note, as programs declare them by hand.
public final class Note: NSManagedObject {
    private static let titleSlot = AttributeSlot<String>("title")

    public var title: String {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }

    /// The model of notes.
    public static let model: NSManagedObjectModel = {
        let title = NSAttributeDescription()
        title.name = "title"
        title.type = .string
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName = NSStringFromClass(Note.self)
        note.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }()
}
