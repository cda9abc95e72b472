import CoreData
import Foundation
import Synchronization
import Testing

/// What compiles with Core Data compiles here, in the three ways of importing it, and does the same.
@Suite struct CompilingTests {
    @Test(arguments: StoreKind.allCases) func initialisersOfOnesOwnNeedNoOther(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        try context.performAndWait {
            let person = CompilingPerson(named: "Ada", in: context)
            #expect(person.origin == "made" && person.isInserted)
            let place = CompilingPlace(context: context)
            place.visitors = [person]
            #expect(person.value(forKey: "visited") as? CompilingPlace === place)
            try context.save()
            #expect(person.name == "Ada")
        }
        #expect(CompilingStore(number: 3, url: store.url).number == 3)
    }

    @Test func aClassWithoutTheInitialiserStopsWhereOneIsRead() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory, CompilingModel.model)
            let context = store.context()
            try context.performAndWait {
                _ = CompilingPerson(named: "Ada", in: context)
                try context.save()
            }
            let other = store.context()
            _ = try other.performAndWait {
                try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "CompilingPerson"))
            }
        }
        // Swift's own message, as on Apple's platforms, which says what to add.
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("init(entity:insertInto:)") && text.contains("CompilingPerson"))
    }

    @Test(arguments: StoreKind.allCases) func objectsStandForThemselves(_ kind: StoreKind) throws {
        _ = try TestStore(kind, CompilingModel.model)
        #expect(NSManagedObject.entity().name == nil)
        let plain = NSManagedObject()
        #expect(plain.entity.name == nil && plain.managedObjectContext == nil && plain.objectID.isTemporaryID)
        let place = CompilingPlace()
        #expect(place.entity.name == "CompilingPlace")
        place.title = "Lerwick"
        #expect(place.title == "Lerwick" && !place.isInserted)
        #expect(CompilingTown().entity.name == "CompilingTown")
        #expect(plain != NSManagedObject() && plain == plain)
    }

    @Test(arguments: StoreKind.allCases) func whatNamesNoEntityIsRefused(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = NSManagedObject.entity()
            #expect(throws: CocoaError.self) { try context.fetch(request) }
        }
    }

    @Test func idsAndConflictsCanBeMade() {
        let ids = [NSManagedObjectID(), NSManagedObjectID()]
        #expect(ids[0] != ids[1] && ids[0] == ids[0] && ids[0].isTemporaryID && ids[0].entity.name == nil)
        #expect(ids[0].uriRepresentation() != ids[1].uriRepresentation())
        #expect(!ids[0].description.isEmpty && Set(ids).count == 2)
        let (constraint, merge) = CompilingBoth.conflicts()
        #expect(constraint.constraint.isEmpty && constraint.conflictingObjects.isEmpty)
        #expect(merge.newVersionNumber == 0 && merge.cachedSnapshot == nil && merge.objectSnapshot == nil)
        #expect(!merge.description.isEmpty && !constraint.description.isEmpty)
    }

    @Test func coordinatorsCanBeExtended() throws {
        let coordinator = CompilingCoordinator(compiling: CompilingModel.model, named: "mine")
        #expect(coordinator.name == "mine")
        coordinator.performAndWait { #expect(coordinator.name == "mine") }
        #expect(coordinator.waited == 1)
        #expect(try CompilingBoth.results(of: coordinator) == 0)
        #expect(coordinator.name == "waited")
    }

    @Test(arguments: StoreKind.allCases) func requestsWithoutTypeAreThoseOfTheClass(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        try context.performAndWait {
            CompilingPlace(context: context).title = "a"
            CompilingTown(context: context).title = "a"
            let titles = try CompilingCoreData.untypedRequests(context)
            #expect(titles == ["a", "a", "a", "1"])
            // The one of NSManagedObject is still meant where its type is asked for.
            let plain: NSFetchRequest<any NSFetchRequestResult> = CompilingPlace.fetchRequest()
            #expect(try context.count(for: plain) == 2)
            #expect(try context.fetch(CompilingCoreData.anyRequest()).count == 2)
        }
    }

    @Test func classesNameThemselves() {
        #expect(CompilingCoreData.name(of: CompilingTown.self).hasSuffix("CompilingTown"))
        #expect(CompilingTown.classForCoder() == CompilingTown.self)
        #expect(
            CompilingCoreData.names(CompilingModel.model) == ["CompilingPerson", "CompilingPlace", "CompilingTown"])
        var empty = NSFastEnumerationIterator(NSArray())
        #expect(empty.next() == nil)
    }

    @Test(arguments: StoreKind.allCases) func publishersTakeAnyClosure(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        context.performAndWait {
            let place = CompilingPlace(context: context)
            let model = CompilingViewModel()
            model.follow(place)
            place.title = "a"
            #expect(model.changes == 11)
            model.stop()
            place.title = "b"
            #expect(model.changes == 11)
        }
    }

    @Test(arguments: StoreKind.allCases) func contextsMayBeSent(_ kind: StoreKind) async throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        let repository = CompilingRepository(context: context)
        let id = try await repository.insert("Lerwick")
        #expect(await repository.title(id) == "Lerwick")
        let storage = CompilingStorage(context)
        try await storage.rename(id, to: "Scalloway")
        #expect(try await storage.count() == 1)
        let screen = await CompilingScreen(context)
        try await screen.load(id)
        #expect(await screen.title == "Scalloway")
        let done = Mutex(false)
        CompilingBoth.waiting(context) { done.withLock { $0 = true } }
        let isDone = done.withLock { $0 }
        #expect(isDone)
        #expect(CompilingGlobals.context.concurrencyType == .privateQueueConcurrencyType)
    }
}
