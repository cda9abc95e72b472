import CoreData

/// Properties of types that Xcode, or who knows less of a value, writes down.
final class Parcel: NSManagedObject {
    /// What Xcode makes of a transformable attribute without a class of its own.
    @NSManaged public var label: NSObject?
    @NSManaged var anything: Any?
    @NSManaged var object: AnyObject?
    @NSManaged var known: (any NSObjectProtocol)?
    @NSManaged var key: AnyHashable?
    @NSManaged var contents: [Any]?
    @NSManaged var objects: [NSObject]
    @NSManaged var names: Set<AnyHashable>?
    @NSManaged var list: NSArray!
    @NSManaged var width: CGFloat
    @NSManaged var weight: UInt32
    @NSManaged var insurance: NSNumber?
    /// A relationship whose class is nobody's business here.
    @NSManaged var section: NSObject?

    /// Of the numbers above, only those that cannot be nil come here.
    override func setNilValueForKey(_ key: String) { setValue(1, forKey: key) }
}
