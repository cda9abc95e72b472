import CoreData
import Foundation
import Notes
import Testing

/// Classes with types that are not optional, as "StrataModel.json" asks for.
@Suite struct NotesTests {
    @Test func whatMustBeThereIsNotOptional() throws {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.shared)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let folder = Folder(context: context)
            let name: String = folder.name
            #expect(name == "Untitled")
            let note = Note(context: context)
            let id: UUID = UUID()
            note.id = id
            let rating: Int16 = note.rating
            #expect(rating == 3 && note.text == nil)
            folder.notes = [note]
            let tag = Tag(context: context)
            tag.name = "new"
            folder.addToTags([tag])
            #expect(folder.tags == [tag] && tag.folders == [folder] && note.folder === folder)
            try context.save()
            context.reset()
            let read = try #require(try context.fetch(NSFetchRequest<Note>(entityName: "Note")).first)
            #expect(read.id == id && read.folder?.notes == [read])
        }
    }
}
