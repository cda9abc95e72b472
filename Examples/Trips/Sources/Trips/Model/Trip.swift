//
//  Trip.swift
//  Trips
//

import CoreData.NSManagedObject
import Foundation

@objc(Trip)
public class Trip: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var kilometres: Double
    @NSManaged public var traveller: Traveller?
}

extension Trip {
    @objc open func summary() -> String { "\(title), \(Int(kilometres)) km" }

    static func unassigned(in context: NSManagedObjectContext) throws -> [Trip] {
        let request = Trip.fetchRequest() as! NSFetchRequest<Trip>
        request.predicate = NSPredicate(format: "%K == nil", #keyPath(Trip.traveller))
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Trip.title), ascending: true,
                selector: #selector(NSString.localizedCaseInsensitiveCompare(_:)))
        ]
        return try context.fetch(request)
    }
}

@objc(TRPRailTrip)
public class RailTrip: Trip {
    @NSManaged public var trainNumber: String?
}

extension RailTrip {
    @objc open override func summary() -> String { super.summary() + " by \(trainNumber ?? "train")" }
}
