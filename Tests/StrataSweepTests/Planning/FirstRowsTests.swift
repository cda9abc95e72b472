import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// First rows of an order that are found without sorting all: where an index has the beginning of the order, and where
/// all refer to a few objects whose values the order begins with. Rows alike in that come in any order there, so the
/// last ones that are wanted may be spread over many more.
@Suite struct FirstRowsTests {
    private static let count = 4_000

    private final class World {
        let store: TestStore
        let context: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            let (city, person) = (GraphModel.entity("City"), GraphModel.entity("Person"))
            let (home, people) = (
                GraphModel.relationship("home", to: city), GraphModel.relationship("people", to: person, toMany: true)
            )
            GraphModel.link(home, people)
            city.properties = [GraphModel.attribute("name", .stringAttributeType), people]
            let name = GraphModel.attribute("name", .stringAttributeType)
            let group = GraphModel.attribute("group", .integer32AttributeType)
            person.properties = [name, group, GraphModel.attribute("age", .integer16AttributeType), home]
            person.indexes = [name, group].map {
                NSFetchIndexDescription(
                    name: $0.name, elements: [NSFetchIndexElementDescription(property: $0, collationType: .binary)])
            }
            let model = NSManagedObjectModel()
            model.entities = [city, person]
            store = try TestStore(kind, model)
            context = store.context()
            try context.performAndWait {
                let cities = (0..<20).map { insert("City", context).set(["name": "city \($0 * 7 % 20)"]) }
                for number in 0..<FirstRowsTests.count {
                    // In groups of one, of 40, and of a quarter of all.
                    let group = number < 1_000 ? number : number < 3_000 ? 1_000 + number % 50 : 2_000
                    _ = insert("Person", context).set([
                        "name": number % 90 == 0 ? nil : "person \(number * 31 % 500)", "group": group,
                        "age": number * 17 % 90, "home": number % 11 == 0 ? nil : cities[number % 20],
                    ])
                }
                try context.save()
            }
        }

        func request(
            _ sorts: [String], _ predicate: String, _ limit: Int, _ offset: Int = 0
        )
            -> NSFetchRequest<NSManagedObject>
        {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate.isEmpty ? nil : NSPredicate(format: predicate)
            request.sortDescriptors = sorts.map { sort in
                sort.hasPrefix("-")
                    ? NSSortDescriptor(key: String(sort.dropFirst()), ascending: false)
                    : NSSortDescriptor(key: sort, ascending: true)
            }
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            return request
        }
    }

    @Test(arguments: StoreKind.allCases) func pagesAreThoseOfAScan(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.context.performAndWait {
            for sorts in [
                ["group", "home.name"], ["-group", "age"], ["name", "home.name", "-age"], ["-name", "-home.name"],
                ["group", "name"], ["name", "group"], ["group", "-home.people.@count"], ["home.name", "group"],
            ] {
                for predicate in ["", "age > 40", "home.name == 'city 3'", "group > 990 AND age < 80", "name != nil"] {
                    for (limit, offset) in [(10, 0), (10, 100), (10, 1_200), (300, 0), (1, 3_900), (20, 995)] {
                        let request = world.request(sorts, predicate, limit, offset)
                        let expected = try IndexUse.setting.withValue(.never) { try world.context.fetch(request) }
                        #expect(
                            try world.context.fetch(request) == expected, "\(sorts) \(predicate) \(limit) \(offset)")
                        let forced = try IndexUse.setting.withValue(.always) { try world.context.fetch(request) }
                        #expect(forced == expected, "\(sorts) \(predicate) \(limit) \(offset), forced")
                    }
                }
            }
        }
    }

    /// Asked from the cities, or by a scan of the people.
    @Test(arguments: StoreKind.allCases) func pagesByWhatAllReferToAreThoseOfAScan(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.context.performAndWait {
            for sorts in [
                ["home.name"], ["-home.name", "age"], ["home.name", "-home.people.@count", "name"],
                ["home.people.@count", "group"], ["home.name", "home.people.@max.name"], ["group", "home.name"],
            ] {
                for predicate in [
                    "home.name == 'city 3'", "home.name BEGINSWITH 'city 1'", "home.name != nil",
                    "home.name > 'city 5' AND age < 40", "home.name == 'none'",
                ] {
                    for (limit, offset) in [(10, 0), (200, 0), (10, 170), (1, 3_000)] {
                        let request = world.request(sorts, predicate, limit, offset)
                        let expected = try SemiJoinUse.setting.withValue(.members) { try world.context.fetch(request) }
                        let found = try SemiJoinUse.setting.withValue(.owners) { try world.context.fetch(request) }
                        #expect(found == expected, "\(sorts) \(predicate) \(limit) \(offset)")
                        #expect(try world.context.fetch(request) == expected)
                    }
                }
            }
        }
    }

    @Test func onlyTheFirstCitysPeopleAreRead() throws {
        let world = try World(.log)
        try world.context.performAndWait {
            let request = world.request(["home.name", "age"], "home.name IN {'city 3', 'city 4', 'city 5'}", 10)
            let explanation = try SemiJoinUse.setting.withValue(.owners) { try world.context.explain(request) }
            #expect(explanation.path == .postings && explanation.rowsMatched < 250)
        }
    }

    /// What has not been saved is laid over.
    @Test(arguments: StoreKind.allCases) func changesTakeTheirPlaces(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.context.performAndWait {
            let request = world.request(["group", "home.name"], "age > 20", 10)
            let before = try world.context.fetch(request)
            before[0].setValue(100_000, forKey: "group")
            world.context.delete(before[3])
            _ = insert("Person", world.context).set(["name": "new", "group": -1, "age": 30])
            let explanation = try IndexUse.setting.withValue(.always) { try world.context.explain(request) }
            #expect(explanation.path == .orderedIndex)
            let found = try IndexUse.setting.withValue(.always) { try world.context.fetch(request) }
            #expect(found.first?.value(forKey: "name") as? String == "new")
            #expect(!found.contains(before[0]) && !found.contains(before[3]))
            let expected = try IndexUse.setting.withValue(.never) { try world.context.fetch(request) }
            #expect(found == expected)
        }
    }

    @Test func fewRowsAreRead() throws {
        let world = try World(.log)
        try world.context.performAndWait {
            for sorts in [["group", "home.name"], ["group", "age"]] {
                let explanation = try world.context.explain(world.request(sorts, "", 10))
                #expect(explanation.path == .orderedIndex && explanation.index == "Person.group", "\(sorts)")
                #expect(explanation.rowsTested < 500, "\(sorts)")
            }
            // A quarter of all rows are alike: to sort them is as well done by a scan.
            let scanned = try world.context.explain(world.request(["-group", "home.name"], "", 10))
            #expect(scanned.path != .orderedIndex)
        }
    }
}
