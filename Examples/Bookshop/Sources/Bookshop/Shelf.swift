import CoreData

final class Shelf: NSManagedObject {
    override class var objectiveCName: String? { "BKSShelf" }

    @NSManaged var label: String
    @NSManaged var books: NSOrderedSet?
    @NSManaged var sections: [Section]

    @NSManaged func insertIntoBooks(_ value: Book, at idx: Int)
    @NSManaged func removeFromBooks(at idx: Int)
    @NSManaged func insertIntoBooks(_ values: [Book], at indexes: NSIndexSet)
    @NSManaged func removeFromBooks(at indexes: NSIndexSet)
    @NSManaged func replaceBooks(at idx: Int, with value: Book)
    @NSManaged func replaceBooks(at indexes: NSIndexSet, with values: [Book])
    @NSManaged func addToBooks(_ values: NSOrderedSet)
    @NSManaged func removeFromBooks(_ values: NSOrderedSet)
}

/// A class of another file's relationship, with members as a Swift set.
class Section: NSManagedObject {
    @NSManaged fileprivate(set) var name: String?
    @NSManaged var shelf: Shelf

    static func make(_ name: String, in context: NSManagedObjectContext) -> Section {
        let section = Section(context: context)
        section.name = name
        return section
    }
}
