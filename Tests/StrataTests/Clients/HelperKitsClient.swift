import CoreData
import Foundation
import Testing

// Small kits around managed objects: classes as generators write them, with initialisers of their own, factories over
// metatypes, predicates built from typed key paths, key-value coding of whole collections.

/// As generators write the part that is theirs.
private class GeneratedTrack: NSManagedObject {
    class var entityName: String { "KitTrack" }

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    convenience init?(managedObjectContext context: NSManagedObjectContext) {
        guard let entity = NSEntityDescription.entity(forEntityName: Self.entityName, in: context) else { return nil }
        self.init(entity: entity, insertInto: context)
    }

    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    var rank: Int32 {
        get { value(forKey: "rank") as? Int32 ?? 0 }
        set { setValue(newValue, forKey: "rank") }
    }
    var isLive: Bool {
        get { (value(forKey: "isLive") as? NSNumber)?.boolValue ?? false }
        set { setValue(newValue, forKey: "isLive") }
    }
    var album: KitAlbum? {
        get { value(forKey: "album") as? KitAlbum }
        set { setValue(newValue, forKey: "album") }
    }
    /// Asks for two attributes.
    var label: String { "\(title ?? "") \(rank)" }
}

/// And the part that is the program's.
private final class KitTrack: GeneratedTrack {
    var plays = 0

    required override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        plays = 1
    }
}

private final class KitAlbum: NSManagedObject {
    let origin: String

    init(named name: String, in context: NSManagedObjectContext) {
        origin = "made"
        // swift-format-ignore: NeverForceUnwrap
        super.init(entity: NSEntityDescription.entity(forEntityName: "KitAlbum", in: context)!, insertInto: context)
        setValue(name, forKey: "name")
    }

    private override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        origin = "found"
        super.init(entity: entity, insertInto: context)
    }

    var name: String? { value(forKey: "name") as? String }
    var tracks: Set<KitTrack> { value(forKey: "tracks") as? Set<KitTrack> ?? [] }
    /// Makes something of the members.
    var liveTracks: Set<KitTrack> { tracks.filter(\.isLive) }
}

private final class KitList: NSManagedObject {
    var items: NSOrderedSet? { value(forKey: "items") as? NSOrderedSet }
    var numbers: [Int] { items?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "number") as? Int } ?? [] }

    func insertIntoItems(_ value: NSManagedObject, at index: Int) {
        willChange(.insertion, valuesAt: IndexSet(integer: index), forKey: "items")
        let members = NSMutableOrderedSet(orderedSet: mutableOrderedSetValue(forKey: "items"))
        members.insert(value, at: index)
        setPrimitiveValue(members, forKey: "items")
        didChange(.insertion, valuesAt: IndexSet(integer: index), forKey: "items")
    }

    func removeFromItems(at index: Int) {
        willChange(.removal, valuesAt: IndexSet(integer: index), forKey: "items")
        let members = NSMutableOrderedSet(orderedSet: items ?? NSOrderedSet())
        members.removeObject(at: index)
        setPrimitiveValue(members, forKey: "items")
        didChange(.removal, valuesAt: IndexSet(integer: index), forKey: "items")
    }
}

/// Inherits every initialiser.
private class KitNote: NSManagedObject {
    var lines = ["first"]
}

extension NSManagedObject {
    fileprivate class func create(in context: NSManagedObjectContext) throws -> Self {
        let name = String(describing: self)
        let entity = try #require(NSEntityDescription.entity(forEntityName: name, in: context))
        return self.init(entity: entity, insertInto: context)
    }
}

private func make<T: NSManagedObject>(_ type: T.Type, _ entity: NSEntityDescription) -> T {
    T(entity: entity, insertInto: nil)
}

private struct KitPredicate<Root: NSManagedObject> {
    let predicate: NSPredicate

    init<Value>(_ path: KeyPath<Root, Value>, _ type: NSComparisonPredicate.Operator, _ value: Value?) {
        predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: path), rightExpression: NSExpression(forConstantValue: value),
            modifier: .direct, type: type, options: [])
    }
}

/// A store over a table in memory.
private final class KitStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "KitStore"
    private var titles: [String: String] = [:]

    override init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        titles = ["a": "one", "b": "two"]
    }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.type]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else { throw CocoaError(.persistentStoreUnsupportedRequestType) }
        return titles.keys.sorted().map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let title = titles[referenceObject(for: objectID) as? String ?? ""] ?? ""
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["title": title], version: 1)
    }
}

@Suite struct HelperKitsClientTests {
    private static let model: NSManagedObjectModel = {
        let track = GraphModel.entity("KitTrack", KitTrack.self)
        let album = GraphModel.entity("KitAlbum", KitAlbum.self)
        let note = GraphModel.entity("KitNote", KitNote.self)
        let tracks = GraphModel.relationship("tracks", to: track, toMany: true)
        let owner = GraphModel.relationship("album", to: album)
        GraphModel.link(tracks, owner)
        track.properties = [
            GraphModel.attribute("title", .stringAttributeType),
            GraphModel.attribute("rank", .integer32AttributeType, default: 0),
            GraphModel.attribute("isLive", .booleanAttributeType, default: false), owner,
        ]
        album.properties = [GraphModel.attribute("name", .stringAttributeType), tracks]
        note.properties = [GraphModel.attribute("text", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [track, album, note]
        return model
    }()

    @Test(arguments: StoreKind.allCases)
    func classesMayHaveInitialisersOfTheirOwn(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let album = KitAlbum(named: "Kind of Blue", in: context)
            #expect(album.origin == "made" && album.isInserted)
            let track = try #require(KitTrack(managedObjectContext: context))
            #expect(track.plays == 1)
            track.album = album
            try context.save()
        }
        let other = store.context()
        try other.performAndWait {
            let album = try #require(try other.fetch(NSFetchRequest<KitAlbum>(entityName: "KitAlbum")).first)
            #expect(album.origin == "found" && album.name == "Kind of Blue")
            #expect(album.tracks.map(\.plays) == [1])
        }
    }

    @Test func metatypesMakeTheirClass() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        try context.performAndWait {
            let note = try #require(Self.model.entitiesByName["KitNote"])
            let types: [NSManagedObject.Type] = [KitNote.self, KitTrack.self]
            #expect(type(of: types[0].init(entity: note, insertInto: nil)) == KitNote.self)
            #expect(types.map { "\(type(of: $0.init(context: context)))" } == ["KitNote", "KitTrack"])
            #expect(try KitNote.create(in: context).lines == ["first"])
            #expect(try KitTrack.create(in: context).plays == 1)
            #expect(make(KitNote.self, note).lines == ["first"])
            #expect(context.insertedObjects.count == 4)
        }
    }

    @Test func storesOfOnesOwnOverrideTheInitialiser() throws {
        NSPersistentStoreCoordinator.registerStoreClass(KitStore.self, forStoreType: KitStore.type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        try coordinator.addPersistentStore(ofType: KitStore.type, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tracks = try context.fetch(NSFetchRequest<KitTrack>(entityName: "KitTrack"))
            #expect(tracks.map(\.title) == ["one", "two"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func keyPathsLeadThroughRelationships(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let blue = KitAlbum(named: "Blue", in: context)
            let red = KitAlbum(named: "Red", in: context)
            for (rank, album) in [(3, blue), (1, red), (2, blue)] as [(Int32, KitAlbum)] {
                let track = KitTrack(context: context)
                track.title = "t\(rank)"
                track.rank = rank
                track.isLive = rank == 2
                track.album = album
            }
            try context.save()
            func titles(_ predicates: KitPredicate<KitTrack>...) throws -> [String?] {
                let request = NSFetchRequest<KitTrack>(entityName: "KitTrack")
                request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates.map(\.predicate))
                request.sortDescriptors = [
                    NSSortDescriptor(keyPath: \KitTrack.album?.name, ascending: false),
                    NSSortDescriptor(keyPath: \KitTrack.rank, ascending: true),
                ]
                return try context.fetch(request).map(\.title)
            }
            #expect(try titles(KitPredicate(\.album, .equalTo, blue)) == ["t2", "t3"])
            #expect(try titles(KitPredicate(\.album?.name, .equalTo, "Red")) == ["t1"])
            #expect(try titles(KitPredicate(\.rank, .greaterThan, 1), KitPredicate(\.isLive, .equalTo, true)) == ["t2"])
            #expect(try titles(KitPredicate(\.album, .notEqualTo, nil)) == ["t1", "t2", "t3"])
        }
        #expect(NSExpression(forKeyPath: \KitTrack.album?.name).keyPath == "album.name")
        #expect(NSExpression(forKeyPath: \KitAlbum.tracks).keyPath == "tracks")
        #expect(NSExpression(forKeyPath: \KitTrack.objectID).keyPath == "objectID")
        #expect(NSSortDescriptor(keyPath: \KitAlbum.liveTracks, ascending: true).key == nil)
        #expect(NSSortDescriptor(keyPath: \KitTrack.rank, ascending: true).key == "rank")
        #expect(NSSortDescriptor(keyPath: \KitTrack.album?.name, ascending: true).key == "album.name")
        #expect(NSSortDescriptor(keyPath: \KitTrack.label, ascending: true).key == nil)
    }

    @Test func partsOfExpressionsAreCoreDatas() throws {
        let predicate = NSPredicate(format: "SUBQUERY(tracks, $t, $t.rank > 3).@count == 2")
        let count = try #require(predicate as? NSComparisonPredicate).leftExpression
        #expect(count.expressionType == .function && count.function == "valueForKeyPath:")
        #expect(count.operand.expressionType == .subquery)
        #expect(count.arguments?.map(\.description) == ["@count"])
        // Taken apart and put together again, as rewriters of predicates do.
        let again = NSExpression(
            forFunction: count.operand, selectorName: count.function, arguments: count.arguments)
        #expect(again == count)
        let path = NSExpression(forKeyPath: "album.name")
        #expect(path.expressionType == .keyPath && path.operand.expressionType == .evaluatedObject)
        #expect(path.function == "valueForKeyPath:")
        #expect(NSExpression(forFunction: "now", arguments: []).arguments == [])
    }

    /// As accessors of ordered relationships are written by hand.
    @Test(arguments: StoreKind.allCases)
    func orderedAccessorsByHand(_ kind: StoreKind) throws {
        let list = GraphModel.entity("KitList", KitList.self)
        let item = GraphModel.entity("KitItem")
        let items = GraphModel.relationship("items", to: item, toMany: true, ordered: true)
        let owner = GraphModel.relationship("list", to: list)
        GraphModel.link(items, owner)
        list.properties = [items]
        item.properties = [GraphModel.attribute("number", .integer16AttributeType, default: 0), owner]
        let model = NSManagedObjectModel()
        model.entities = [list, item]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let list = KitList(context: context)
            for number in 0..<3 {
                let object = NSManagedObject(entity: item, insertInto: context)
                object.setValue(number, forKey: "number")
                list.insertIntoItems(object, at: number / 2)
            }
            try context.save()
            #expect(list.numbers == [1, 2, 0])
            #expect(
                list.items?.allSatisfy { ($0 as? NSManagedObject)?.value(forKey: "list") as? KitList === list } == true)
            list.removeFromItems(at: 0)
            try context.save()
        }
        let other = store.context()
        try other.performAndWait {
            let lists = try other.fetch(NSFetchRequest<KitList>(entityName: "KitList"))
            #expect(lists.first?.numbers == [2, 0])
        }
    }

    @Test func collectionsSetAndReadByKey() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        try context.performAndWait {
            let album = KitAlbum(named: "Blue", in: context)
            for rank in 1...3 { KitTrack(context: context).setValuesForKeys(["rank": rank, "album": album]) }
            let tracks = try #require(album.value(forKey: "tracks") as? NSSet)
            tracks.setValue("same", forKey: "title")
            #expect(tracks.value(forKey: "title") as? NSSet == NSSet(object: "same"))
            // The inverse takes each one out of the set that is gone through.
            album.mutableSetValue(forKey: "tracks").setValue(nil, forKey: "album")
            #expect(album.tracks.isEmpty)
        }
        let name = "strata-kit-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        defaults.setValue(7, forKey: "token")
        #expect(defaults.value(forKey: "token") as? Int == 7)
        #expect(autoreleasepool { 3 } == 3)
    }

    @Test func descriptionsQuoteAsDictionariesDo() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        context.performAndWait {
            let track = KitTrack(context: context)
            track.title = "So \"What\""
            #expect(track.description.contains("    album = nil;\n    isLive = 0;\n    rank = 0;\n"))
            #expect(track.description.contains("title = \"So \\\"What\\\"\";"))
            track.title = "Blue"
            #expect(track.description.contains("title = Blue;"))
        }
    }
}
