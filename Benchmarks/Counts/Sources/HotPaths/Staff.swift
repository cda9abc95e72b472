import Foundation
import Strata

/// Whoever works somewhere, written by hand as generated code would be.
final class Member: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let ageSlot = AttributeSlot<Int64>("age")
    private static let bornSlot = AttributeSlot<Date>("born")
    private static let teamSlot = ToOneSlot<Team>("team")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    var age: Int64 {
        get { self[Self.ageSlot] }
        set { self[Self.ageSlot] = newValue }
    }
    var born: Date {
        get { self[Self.bornSlot] }
        set { self[Self.bornSlot] = newValue }
    }
    var team: Team? {
        get { self[Self.teamSlot] }
        set { self[Self.teamSlot] = newValue }
    }
}

/// Where they work.
final class Team: NSManagedObject {
    private static let titleSlot = AttributeSlot<String>("title")
    private static let charterSlot = AttributeSlot<String?>("charter")
    private static let membersSlot = ToManySlot<Member>("members")

    var title: String {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var charter: String? {
        get { self[Self.charterSlot] }
        set { self[Self.charterSlot] = newValue }
    }
    var members: Set<Member> { self[Self.membersSlot] }
}

/// A store in memory with members of one team.
struct Staff {
    /// Of the team's charter, which therefore lies outside of its row.
    static let charterBytes = 100_000

    let context: NSManagedObjectContext

    init(_ count: Int) throws {
        ManagedObjectClasses.register(Member.self, Team.self)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        guard count > 0 else { return }
        try context.performAndWait {
            let team = Team(context: context)
            team.title = "the team"
            team.charter = String(repeating: "long text ", count: Self.charterBytes / 10)
            add(count, to: team)
            try context.save()
            context.reset()
        }
    }

    /// Inserts members, which differ by name and age.
    func add(_ count: Int, to team: Team?) {
        for number in 0..<count {
            let member = Member(context: context)
            member.name = "member number \(number)"
            member.age = Int64(number % 100)
            member.born = Date(timeIntervalSinceReferenceDate: Double(number))
            member.team = team
        }
    }

    func members() throws -> [Member] { try context.fetch(NSFetchRequest<Member>(entityName: "Member")) }

    private static func model() -> NSManagedObjectModel {
        let (member, team) = (entity("Member", Member.self), entity("Team", Team.self))
        let (toTeam, toMembers) = (NSRelationshipDescription(), NSRelationshipDescription())
        (toTeam.name, toTeam.destinationEntity, toTeam.maxCount) = ("team", team, 1)
        (toMembers.name, toMembers.destinationEntity, toMembers.maxCount) = ("members", member, 0)
        (toTeam.inverseRelationship, toMembers.inverseRelationship) = (toMembers, toTeam)
        toTeam.isOptional = true
        toMembers.isOptional = true
        member.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer64AttributeType),
            attribute("born", .dateAttributeType), toTeam,
        ]
        team.properties = [
            attribute("title", .stringAttributeType), attribute("charter", .stringAttributeType), toMembers,
        ]
        let model = NSManagedObjectModel()
        model.entities = [member, team]
        return model
    }

    private static func entity(_ name: String, _ type: AnyClass) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = String(reflecting: type)
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }
}
