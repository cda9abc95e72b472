import CoreData
import Testing

/// Teams whose attributes are derived from their members', members whose attributes are derived from their team's, and
/// links between members and boards, of which one sort is ordered.
enum ClubModel {
    private static func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSPropertyDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    static func make(uniqueNames: Bool = false) -> NSManagedObjectModel {
        let (team, person) = (GraphModel.entity("Team"), GraphModel.entity("Person"))
        let (board, post) = (GraphModel.entity("Board"), GraphModel.entity("Post"))
        let members = GraphModel.relationship("members", to: person, toMany: true)
        let teamOf = GraphModel.relationship("team", to: team)
        GraphModel.link(members, teamOf)
        let watching = GraphModel.relationship("watching", to: board, toMany: true)
        let watchers = GraphModel.relationship("watchers", to: person, toMany: true)
        GraphModel.link(watching, watchers)
        let queue = GraphModel.relationship("queue", to: person, toMany: true, ordered: true)
        let queuedIn = GraphModel.relationship("queuedIn", to: board, toMany: true)
        GraphModel.link(queue, queuedIn)
        let posts = GraphModel.relationship("posts", to: post, toMany: true)
        let place = GraphModel.relationship("team", to: team, optional: false)
        GraphModel.link(posts, place)
        team.properties = [
            GraphModel.attribute("title", .stringAttributeType), members, posts,
            derived("memberCount", .integer64AttributeType, "members.@count"),
            derived("topRank", .integer64AttributeType, "members.@max.rank"),
        ]
        person.properties = [
            GraphModel.attribute("name", .stringAttributeType),
            GraphModel.attribute("rank", .integer64AttributeType, default: 0), teamOf, watching, queuedIn,
            derived("teamTitle", .stringAttributeType, "team.title"),
        ]
        if uniqueNames { person.uniquenessConstraints = [["name"]] }
        board.properties = [
            GraphModel.attribute("title", .stringAttributeType), watchers, queue,
            derived("watcherCount", .integer64AttributeType, "watchers.@count"),
        ]
        post.properties = [GraphModel.attribute("title", .stringAttributeType), place]
        let model = NSManagedObjectModel()
        model.entities = [team, person, board, post]
        return model
    }
}

/// Two contexts over one club, which know nothing of each other.
struct Club {
    let store: TestStore
    let here: NSManagedObjectContext
    let there: NSManagedObjectContext
    /// The objects of `here`, by title or name.
    private(set) var objects: [String: NSManagedObject] = [:]

    /// Teams A and B, boards X and Y, and people in teams (nil for none).
    init(
        _ kind: StoreKind, people: [String: String?], policy: NSMergePolicy = .mergeByPropertyObjectTrump,
        uniqueNames: Bool = false
    ) throws {
        store = try TestStore(kind, ClubModel.make(uniqueNames: uniqueNames))
        (here, there) = (store.context(), store.context())
        here.mergePolicy = policy
        let here = here
        objects = try here.performAndWait {
            var objects: [String: NSManagedObject] = [:]
            for title in ["A", "B"] { objects[title] = insert("Team", here).set(["title": title]) }
            for title in ["X", "Y"] { objects[title] = insert("Board", here).set(["title": title]) }
            for (name, team) in people.sorted(by: { $0.key < $1.key }) {
                objects[name] = insert("Person", here).set(["name": name, "team": team.flatMap { objects[$0] }])
            }
            try here.save()
            return objects
        }
    }

    subscript(_ name: String) -> NSManagedObject {
        guard let object = objects[name] else { preconditionFailure("nothing is called \(name)") }
        return object
    }

    /// The other context's object.
    func other(_ name: String) -> NSManagedObject { there.object(with: self[name].objectID) }

    /// Saves what the block does in the other context.
    func elsewhere(_ body: () throws -> Void) throws {
        try there.performAndWait {
            try body()
            try there.save()
        }
    }

    /// What a new context finds: one property of everything of an entity, by name or title.
    func stored<Value>(_ entity: String, _ key: String, as: Value.Type = Value.self) throws -> [String: Value] {
        let fresh = store.context()
        return try fresh.performAndWait {
            var found: [String: Value] = [:]
            for object in try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                let name = object.text(entity == "Person" ? "name" : "title") ?? ""
                let value = object.value(forKey: key)
                if let members = value as? Set<NSManagedObject> {
                    let names = members.map { $0.text($0.entity.name == "Person" ? "name" : "title") ?? "" }.sorted()
                    found[name] = names.joined() as? Value
                } else {
                    found[name] = value as? Value
                }
            }
            return found
        }
    }
}

extension NSManagedObject {
    func link(_ other: NSManagedObject) { mutableSetValue(forKey: "watching").add(other) }
    func unlink(_ other: NSManagedObject) { mutableSetValue(forKey: "watching").remove(other) }
}
