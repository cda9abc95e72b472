import CoreData

public let notesModel: NSManagedObjectModel = {
    let folder = NSEntityDescription()
    folder.name = "Folder"
    folder.managedObjectClassName = NSStringFromClass(Folder.self)
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = NSStringFromClass(Note.self)

    let notes = NSRelationshipDescription()
    notes.name = "notes"
    notes.destinationEntity = note
    notes.deleteRule = .cascadeDeleteRule
    let parent = NSRelationshipDescription()
    parent.name = "folder"
    parent.destinationEntity = folder
    parent.maxCount = 1
    notes.inverseRelationship = parent
    parent.inverseRelationship = notes

    folder.properties = [attribute("name", .stringAttributeType), notes]
    folder.uniquenessConstraints = [["name"]]
    note.properties = [
        attribute("title", .stringAttributeType), attribute("text", .stringAttributeType),
        attribute("stars", .integer32AttributeType, default: 0), parent,
    ]
    let model = NSManagedObjectModel()
    model.entities = [folder, note]
    return model
}()

private func attribute(_ name: String, _ type: NSAttributeType, default value: Any? = "") -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = false
    attribute.defaultValue = value
    return attribute
}
