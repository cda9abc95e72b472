import CoreData
import Foundation
import Testing

// Managed objects that are decoded from JSON and encoded again, as importers without a mapping library do it.

extension CodingUserInfoKey {
    fileprivate static let context = CodingUserInfoKey(rawValue: "managedObjectContext")!
}

private enum JSONClientError: Error { case missingContext }

/// A decoder takes what is Sendable only.
private struct ContextBox: @unchecked Sendable {
    // Unchecked: the decoder runs on the context's queue.
    let context: NSManagedObjectContext
}

private final class JSONArtist: NSManagedObject, Codable {
    private static let nameSlot = AttributeSlot<String?>("name")
    private static let idSlot = AttributeSlot<Int64>("id")
    private static let albumsSlot = ToManySlot<JSONAlbum>("albums")

    var name: String? {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    var id: Int64 {
        get { self[Self.idSlot] }
        set { self[Self.idSlot] = newValue }
    }
    var albums: Set<JSONAlbum> {
        get { self[Self.albumsSlot] }
        set { self[Self.albumsSlot] = newValue }
    }

    enum CodingKeys: String, CodingKey {
        case name
        case id = "artist_id"
        case albums
    }

    required convenience init(from decoder: any Decoder) throws {
        guard let context = (decoder.userInfo[.context] as? ContextBox)?.context else {
            throw JSONClientError.missingContext
        }
        self.init(context: context)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int64.self, forKey: .id)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        albums = try values.decodeIfPresent(Set<JSONAlbum>.self, forKey: .albums) ?? []
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encode(albums.sorted { $0.title < $1.title }, forKey: .albums)
    }
}

private final class JSONAlbum: NSManagedObject, Codable {
    var title: String {
        get { value(forKey: #function) as? String ?? "" }
        set { setValue(newValue, forKey: #function) }
    }
    var released: Date? {
        get { value(forKey: #function) as? Date }
        set { setValue(newValue, forKey: #function) }
    }
    var rating: Double? {
        get { (value(forKey: #function) as? NSNumber)?.doubleValue }
        set { setValue(newValue, forKey: #function) }
    }
    var cover: Data? {
        get { value(forKey: #function) as? Data }
        set { setValue(newValue, forKey: #function) }
    }
    var link: URL? {
        get { value(forKey: #function) as? URL }
        set { setValue(newValue, forKey: #function) }
    }
    var artist: JSONArtist? {
        get { value(forKey: #function) as? JSONArtist }
        set { setValue(newValue, forKey: #function) }
    }

    private enum CodingKeys: CodingKey { case title, released, rating, cover, link }

    required convenience init(from decoder: any Decoder) throws {
        guard let context = (decoder.userInfo[.context] as? ContextBox)?.context,
            let entity = NSEntityDescription.entity(forEntityName: "JSONAlbum", in: context)
        else { throw JSONClientError.missingContext }
        self.init(entity: entity, insertInto: context)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        title = try values.decode(String.self, forKey: .title)
        released = try values.decodeIfPresent(Date.self, forKey: .released)
        rating = try values.decodeIfPresent(Double.self, forKey: .rating)
        cover = try values.decodeIfPresent(Data.self, forKey: .cover)
        link = try values.decodeIfPresent(URL.self, forKey: .link)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(title, forKey: .title)
        try values.encodeIfPresent(released, forKey: .released)
        try values.encodeIfPresent(rating, forKey: .rating)
        try values.encodeIfPresent(cover, forKey: .cover)
        try values.encodeIfPresent(link, forKey: .link)
    }
}

@Suite struct JSONClientTests {
    private static func container() throws -> NSPersistentContainer {
        let artist = GraphModel.entity("JSONArtist", JSONArtist.self)
        let album = GraphModel.entity("JSONAlbum", JSONAlbum.self)
        let albums = GraphModel.relationship("albums", to: album, toMany: true, rule: .cascadeDeleteRule)
        let owner = GraphModel.relationship("artist", to: artist)
        GraphModel.link(albums, owner)
        artist.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("id", .integer64AttributeType),
            albums,
        ]
        artist.uniquenessConstraints = [["id"]]
        album.properties = [
            GraphModel.attribute("title", .stringAttributeType, optional: false),
            GraphModel.attribute("released", .dateAttributeType), GraphModel.attribute("rating", .doubleAttributeType),
            GraphModel.attribute("cover", .binaryDataAttributeType), GraphModel.attribute("link", .URIAttributeType),
            owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [artist, album]
        let container = NSPersistentContainer(name: "Music", managedObjectModel: model)
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        return container
    }

    private static let text = """
        [{"artist_id": 7, "name": "Bowie", "albums": [
            {"title": "Low", "released": "1977-01-14T00:00:00Z", "rating": 4.5, "cover": "AAEC",
             "link": "https://example.org/low"},
            {"title": "Heroes"}]},
         {"artist_id": 8}]
        """

    private static func decoder(_ context: NSManagedObjectContext) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.userInfo[.context] = ContextBox(context: context)
        return decoder
    }

    @Test func objectsComeFromJSONAndGoBack() throws {
        let container = try Self.container()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            let artists = try Self.decoder(context).decode([JSONArtist].self, from: Data(Self.text.utf8))
            #expect(artists.map(\.id) == [7, 8])
            #expect(context.insertedObjects.count == 4)
            try context.save()
            #expect(!context.hasChanges)
            let low = try #require(artists[0].albums.first { $0.title == "Low" })
            #expect(low.artist === artists[0])
            #expect(low.rating == 4.5 && low.cover == Data([0, 1, 2]) && low.link?.host == "example.org")
            context.refreshAllObjects()
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys]
            let again = try encoder.encode(artists)
            let other = container.newBackgroundContext()
            try other.performAndWait {
                other.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
                // The same records once more: the constraint makes one artist of two.
                _ = try Self.decoder(other).decode([JSONArtist].self, from: again)
                try other.save()
            }
        }
        let request = NSFetchRequest<JSONArtist>(entityName: "JSONArtist")
        request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
        let all = try container.viewContext.performAndWait { try container.viewContext.fetch(request).map(\.id) }
        #expect(all == [7, 8])
    }

    @Test func aRecordThatIsBrokenLeavesNothingAfterRollback() throws {
        let context = try Self.container().newBackgroundContext()
        context.performAndWait {
            let broken = #"[{"artist_id": 1, "albums": [{"title": 5}]}]"#
            #expect(throws: DecodingError.self) {
                try Self.decoder(context).decode([JSONArtist].self, from: Data(broken.utf8))
            }
            #expect(context.hasChanges)
            context.rollback()
            #expect(!context.hasChanges && context.insertedObjects.isEmpty)
        }
    }
}
