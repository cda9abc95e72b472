//
//  Author+CoreDataClass.swift
//  Bookshop
//

import CoreData
import Foundation

public class Author: NSManagedObject {
    /// In no model; key-value coding finds it all the same.
    public var initials: String {
        (name ?? "").split(separator: " ").compactMap(\.first).map { "\($0)." }.joined(separator: " ")
    }

    class func keyPathsForValuesAffectingInitials() -> Set<String> { ["name"] }
}
