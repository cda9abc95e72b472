//
//  Book+CoreDataProperties.swift
//  Bookshop
//

import Catalogue
import CoreData
import Foundation

extension Book {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Book> {
        return NSFetchRequest<Book>(entityName: "Book")
    }

    @NSManaged public var title: String, subtitle: String?
    @NSManaged public var pages: Int
    @NSManaged public var rating: NSNumber?
    @NSManaged public var weight: NSDecimalNumber?
    @NSManaged public var published: TimeInterval
    @NSManaged public var format: Format
    @NSManaged public var status: Status?
    @NSManaged public var price: Price?
    @NSManaged public var tags: [String]?
    @NSManaged public var isSigned: Bool
    @NSManaged public var author: Author?
    @NSManaged public var editions: Set<Book>
    @NSManaged public var edition: Book!
    @NSManaged var primitiveIsbn: String?
    @NSManaged private var secretNotes: String?

    public func publish(in days: Int) { secretNotes = "in \(days) days" }

    public var notesOfThePublisher: String? { secretNotes }

    #if os(Linux)
    @NSManaged public var `class`: Int32
    #else
    @NSManaged public var unheard: Int32
    #endif

}
