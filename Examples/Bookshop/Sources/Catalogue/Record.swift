import CoreData

/// What all objects of the shop have, in a module of its own.
open class Record: NSManagedObject {
    @NSManaged public var identifier: UUID
    @NSManaged public internal(set) var createdAt: Date?

    override open func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(UUID(), forKey: "identifier")
        setPrimitiveValue(Date(), forKey: "createdAt")
    }
}
