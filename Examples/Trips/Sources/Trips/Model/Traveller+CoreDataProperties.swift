//
//  Traveller+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension Traveller {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Traveller> {
        return NSFetchRequest<Traveller>(entityName: "Traveller")
    }

    @NSManaged public var firstName: String?
    @NSManaged public var lastName: String?
    @NSManaged public var updatedAt: Date?
    @NSManaged public var trips: NSOrderedSet?

}

// MARK: Generated accessors for trips
extension Traveller {

    @objc(insertObject:inTripsAtIndex:)
    @NSManaged public func insertIntoTrips(_ value: Trip, at idx: Int)

    @objc(removeObjectFromTripsAtIndex:)
    @NSManaged public func removeFromTrips(at idx: Int)

    @objc(addTripsObject:)
    @NSManaged public func addToTrips(_ value: Trip)

    @objc(removeTripsObject:)
    @NSManaged public func removeFromTrips(_ value: Trip)

    @objc(addTrips:)
    @NSManaged public func addToTrips(_ values: NSOrderedSet)

    @objc(removeTrips:)
    @NSManaged public func removeFromTrips(_ values: NSOrderedSet)

}

extension Traveller: Identifiable {

}
