import CoreData

public final class Folder: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var notes: Set<Note>
}

public final class Note: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var text: String
    @NSManaged public var stars: Int
    @NSManaged public var folder: Folder?
}
