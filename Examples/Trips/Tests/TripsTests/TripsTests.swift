import CoreData
import Testing

@testable import Trips

/// Sources of an Xcode project, which the plugin PortedSources compiles as they are.
@MainActor @Suite struct TripsTests {
    private let controller = PersistenceController(inMemory: true)
    private var context: NSManagedObjectContext { controller.container.viewContext }

    @Test func theModelLayerWorksAsItWasWritten() throws {
        let ada = Traveller(context: context)
        ada.firstName = "Ada"
        ada.lastName = "Lovelace"
        #expect(ada.value(forKey: "fullName") as? String == "Ada Lovelace")
        let walk = Trip(context: context)
        walk.title = "Moor"
        walk.kilometres = 12
        let ride = RailTrip(context: context)
        ride.title = "alps"
        ride.trainNumber = "IC 7"
        #expect(try Trip.unassigned(in: context).map(\.title) == ["alps", "Moor"])
        ada.addToTrips(walk)
        ada.insertIntoTrips(ride, at: 0)
        try context.save()
        let saved = try #require(ada.updatedAt)
        ada.lastName = "King"
        try context.save()
        #expect(ada.updatedAt == saved + 1)
        #expect(ada.trips?.array as? [Trip] == [ride, walk])
        #expect([walk, ride].map { $0.summary() } == ["Moor, 12 km", "alps, 0 km by IC 7"])
        #expect(try context.fetch(Traveller.fetchRequest()).map(\.fullName) == ["Ada King"])
    }

    @Test func aValidatorIsFoundByItsName() throws {
        let ada = Traveller(context: context)
        ada.lastName = ""
        let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
        #expect(error?.code == NSValidationStringTooShortError)
    }

    @Test func messagesLeadToTheSourcesAsTheyAre() {
        #expect(Traveller.line == 47)
    }
}
