//
//  Book+CoreDataClass.swift
//  Bookshop
//

import Catalogue
import CoreData
import Foundation

public class Book: Record {
    public enum Status: String {
        case ordered, inStock, soldOut
    }

    /// A hand-written accessor over primitives: spaces and hyphens are left out.
    public var isbn: String? {
        get {
            willAccessValue(forKey: "isbn")
            defer { didAccessValue(forKey: "isbn") }
            return primitiveIsbn
        }
        set {
            willChangeValue(forKey: "isbn")
            primitiveIsbn = newValue?.filter { $0.isNumber || $0 == "X" }
            didChangeValue(forKey: "isbn")
        }
    }

    /// Asks key-value coding for its own property, which must not go round in circles.
    public var blurb: String {
        get { value(forKey: "blurb") as? String ?? "no blurb" }
        set { setValue(newValue, forKey: "blurb") }
    }

    /// Makes a URL of the text that the model has.
    public var link: URL? {
        get { (primitiveValue(forKey: "link") as? String).flatMap { URL(string: $0) } }
        set {
            willChangeValue(forKey: "link")
            setPrimitiveValue(newValue?.absoluteString, forKey: "link")
            didChangeValue(forKey: "link")
        }
    }

    /// Makes a duration of the seconds that the model has.
    public var reading: Duration {
        get { .seconds(primitiveValue(forKey: "reading") as? Double ?? 0) }
        set { setPrimitiveValue(Double(newValue.components.seconds), forKey: "reading") }
    }

    /// A number of the model's own type.
    public var copies: Int32 {
        get { primitiveValue(forKey: "copies") as? Int32 ?? 0 }
        set {
            willChangeValue(forKey: "copies")
            setPrimitiveValue(newValue, forKey: "copies")
            didChangeValue(forKey: "copies")
        }
    }

    func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let title = value.pointee as? String, title.contains("!") else { return }
        throw CocoaError(.validationStringPatternMatching)
    }
}

enum Stock {
    enum Place: Int {
        case front, back
    }

    class Item: NSManagedObject {
        // The type is Stock.Place, which only what lies within Stock may call just that.
        @NSManaged var place: Place
        @NSManaged var count: UInt8
        @NSManaged var book: Book
    }
}
