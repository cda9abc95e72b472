import CoreData
import Foundation
import Testing

// Playlists: ordered many-to-many relationships that are edited in place, colours that a transformer of the program's
// own keeps as archives, values that are computed when an object is fetched, tasks in Swift concurrency.

final class PlaylistColour: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let red: Double
    let name: String

    init(red: Double, name: String) { (self.red, self.name) = (red, name) }

    required init?(coder: NSCoder) {
        red = coder.decodeDouble(forKey: "red")
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.name = name as String
    }

    func encode(with coder: NSCoder) {
        coder.encode(red, forKey: "red")
        coder.encode(name as NSString, forKey: "name")
    }
}

private final class ColourTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    static let name = NSValueTransformerName("PlaylistColour")

    override static var allowedTopLevelClasses: [AnyClass] { [PlaylistColour.self] }

    static func register() { ValueTransformer.setValueTransformer(ColourTransformer(), forName: name) }
}

final class Track: NSManagedObject {
    private static let titleSlot = AttributeSlot<String?>("title")
    private static let secondsSlot = AttributeSlot<Int32>("seconds")
    private static let lengthSlot = AttributeSlot<String?>("length")

    var title: String? {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var seconds: Int32 {
        get { self[Self.secondsSlot] }
        set { self[Self.secondsSlot] = newValue }
    }
    /// Transient, computed when the track is fetched.
    var length: String? {
        get { self[Self.lengthSlot] }
        set { self[Self.lengthSlot] = newValue }
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        length = "\(seconds / 60):\(seconds % 60)"
    }
}

@Suite struct PlaylistClientTests {
    private static func model() -> NSManagedObjectModel {
        ColourTransformer.register()
        ManagedObjectClasses.register(Track.self)
        let playlist = GraphModel.entity("Playlist")
        let track = GraphModel.entity("Track", Track.self)
        let tracks = GraphModel.relationship("tracks", to: track, toMany: true, ordered: true)
        let playlists = GraphModel.relationship("playlists", to: playlist, toMany: true)
        GraphModel.link(tracks, playlists)
        let colour = GraphModel.attribute("colour", .transformableAttributeType)
        colour.valueTransformerName = ColourTransformer.name.rawValue
        colour.attributeValueClassName = "PlaylistColour"
        let length = GraphModel.attribute("length", .stringAttributeType)
        length.isTransient = true
        playlist.properties = [GraphModel.attribute("name", .stringAttributeType), colour, tracks]
        track.properties = [
            GraphModel.attribute("title", .stringAttributeType),
            GraphModel.attribute("seconds", .integer32AttributeType, default: 0), length, playlists,
        ]
        let model = NSManagedObjectModel()
        model.entities = [playlist, track]
        return model
    }

    private func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObject) {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let list = try context.performAndWait {
            let list = NSEntityDescription.insertNewObject(forEntityName: "Playlist", into: context)
            let members = list.mutableOrderedSetValue(forKey: "tracks")
            for (index, title) in ["a", "b", "c", "d", "e"].enumerated() {
                let track = Track(context: context)
                (track.title, track.seconds) = (title, Int32(61 * (index + 1)))
                members.add(track)
            }
            list.setValue(PlaylistColour(red: 0.5, name: "rose"), forKey: "colour")
            try context.save()
            return list
        }
        return (store, context, list)
    }

    private func titles(_ list: NSManagedObject) -> String {
        (list.value(forKey: "tracks") as? NSOrderedSet)?.compactMap { ($0 as? Track)?.title }.joined() ?? "-"
    }

    @Test(arguments: StoreKind.allCases) func tracksAreMovedAbout(_ kind: StoreKind) throws {
        let (store, context, list) = try filled(kind)
        let other = store.context()
        try context.check { () throws in
            let tracks = list.mutableOrderedSetValue(forKey: "tracks")
            #expect(titles(list) == "abcde")
            tracks.moveObjects(at: IndexSet([3, 4]), to: 0)
            #expect(titles(list) == "deabc" && list.hasPersistentChangedValues)
            tracks.exchangeObject(at: 0, withObjectAt: 4)
            tracks.removeObject(at: 1)
            #expect(titles(list) == "cabd")
            let new = Track(context: context)
            new.title = "n"
            tracks.insert(new, at: 2)
            #expect(titles(list) == "canbd" && (new.value(forKey: "playlists") as? Set<NSManagedObject>) == [list])
            tracks.replaceObject(at: 0, with: tracks[4])
            try context.save()
            let expected = titles(list)
            try other.check { () throws in
                #expect(titles(try other.existingObject(with: list.objectID)) == expected)
            }
            // The other side appends; a deleted member closes the gap.
            let again = NSEntityDescription.insertNewObject(forEntityName: "Playlist", into: context)
            let member = try #require(tracks.firstObject as? Track)
            member.mutableSetValue(forKey: "playlists").add(again)
            #expect(titles(again) == member.title)
            context.delete(member)
            context.processPendingChanges()
            #expect(titles(again) == "" && titles(list) == String(expected.dropFirst()))
            context.rollback()
            #expect(titles(list) == expected)
        }
    }

    @Test(arguments: StoreKind.allCases) func coloursAreArchivedByTheirTransformer(_ kind: StoreKind) throws {
        let (store, _, list) = try filled(kind)
        let id = list.objectID
        try store.reopen()
        let context = store.context()
        try context.check { () throws in
            let again = context.object(
                with: try #require(
                    store.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())))
            let colour = try #require(again.value(forKey: "colour") as? PlaylistColour)
            #expect(colour.red == 0.5 && colour.name == "rose")
            again.setValue(nil, forKey: "colour")
            try context.save()
            context.refresh(again, mergeChanges: false)
            #expect(again.value(forKey: "colour") == nil)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Playlist")
            request.predicate = NSPredicate(format: "colour == nil")
            #expect(try context.count(for: request) == 1)
        }
    }

    /// "Change processing is disabled" while objects awake from a fetch: nothing is dirty afterwards.
    @Test(arguments: StoreKind.allCases) func whatIsComputedOnAwakeningIsNoChange(_ kind: StoreKind) throws {
        let (store, context, list) = try filled(kind)
        try context.check { () throws in
            context.reset()
            let request = NSFetchRequest<Track>(entityName: "Track")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let tracks = try context.fetch(request)
            #expect(tracks.map(\.length) == ["1:1", "2:2", "3:3", "4:4", "5:5"])
            #expect(!context.hasChanges && tracks.allSatisfy { !$0.hasChanges && !$0.isUpdated })
            tracks[0].seconds = 30
            #expect(context.updatedObjects == [tracks[0]])
            context.refresh(tracks[1], mergeChanges: false)
            #expect(tracks[1].isFault && tracks[1].length == "2:2")
        }
        withExtendedLifetime((store, list)) {}
    }

    @Test(arguments: StoreKind.allCases) func tasksTakeTurns(_ kind: StoreKind) async throws {
        struct Unplayable: Error {}
        let (store, _, list) = try filled(kind)
        let id = list.objectID
        let context = store.context()
        let count = await context.perform {
            (context.object(with: id).value(forKeyPath: "tracks.@count") as? Int) ?? 0
        }
        #expect(count == 5)
        await #expect(throws: Unplayable.self) {
            try await context.perform { throw Unplayable() }
        }
        let order = LockedBox<[Int]>([])
        await context.perform {
            // A block on the context's queue may wait for one that runs at once.
            context.performAndWait { order.change { $0.append(1) } }
            order.change { $0.append(2) }
        }
        await context.perform(schedule: .enqueued) { order.change { $0.append(3) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    await context.perform(schedule: .immediate) {
                        let list = context.object(with: id)
                        let name = (list.value(forKey: "name") as? String) ?? ""
                        list.setValue(name + "x", forKey: "name")
                    }
                }
            }
        }
        #expect(order.value == [1, 2, 3])
        try await context.perform {
            #expect((context.object(with: id).value(forKey: "name") as? String)?.count == 20)
            try context.save()
        }
    }
}
