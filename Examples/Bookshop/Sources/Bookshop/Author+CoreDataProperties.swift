//
//  Author+CoreDataProperties.swift
//  Bookshop
//

import CoreData
import Foundation

extension Author {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Author> {
        return NSFetchRequest<Author>(entityName: "Author")
    }

    @NSManaged public var name: String?
    @NSManaged public var born: NSDate?
    @NSManaged public var books: NSSet?

}

// MARK: Generated accessors for books
extension Author {

    @NSManaged public func addToBooks(_ value: Book)

    @NSManaged public func removeFromBooks(_ value: Book)

    @NSManaged public func addToBooks(_ values: NSSet)

    @NSManaged public func removeFromBooks(_ values: NSSet)

}

extension Author: Identifiable {

}
