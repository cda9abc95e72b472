import CoreData
import Foundation
import Testing

/// Relationships across a migration: kept where they are, or written anew.
@Suite struct RelationshipMigrationTests {
    private typealias G = GraphModel

    /// A company with other names, so that the hidden entities of its many-to-many relationships change sides.
    private static func renamedCompany() -> NSManagedObjectModel {
        let department = G.entity("Unit")
        department.renamingIdentifier = "Department"
        let employee = G.entity("Worker")
        employee.renamingIdentifier = "Employee"
        let manager = G.entity("Manager")
        let badge = G.entity("Badge")
        let project = G.entity("AProject")
        project.renamingIdentifier = "Project"
        let task = G.entity("Task")
        let employees = G.relationship("workers", to: employee, toMany: true).renamed(from: "employees")
        let departmentOf = G.relationship("unit", to: department).renamed(from: "department")
        G.link(employees, departmentOf)
        let badgeOf = G.relationship("badge", to: badge, rule: .cascadeDeleteRule)
        let owner = G.relationship("owner", to: employee)
        G.link(badgeOf, owner)
        let projects = G.relationship("projects", to: project, toMany: true)
        let staff = G.relationship("people", to: employee, toMany: true).renamed(from: "staff")
        G.link(projects, staff)
        let friends = G.relationship("mates", to: employee, toMany: true).renamed(from: "friends")
        friends.inverseRelationship = friends
        let tasks = G.relationship("steps", to: task, toMany: true, rule: .cascadeDeleteRule, ordered: true)
            .renamed(from: "tasks")
        let taskProject = G.relationship("project", to: project)
        G.link(tasks, taskProject)
        department.properties = [
            G.attribute("aaa", .stringAttributeType, default: "first"), G.attribute("title", .stringAttributeType),
            employees,
        ]
        employee.properties = [
            G.attribute("name", .stringAttributeType, optional: false, default: ""),
            G.attribute("age", .integer16AttributeType, default: 18), departmentOf, badgeOf, projects, friends,
            G.attribute("zip", .stringAttributeType),
        ]
        manager.properties = [G.attribute("bonus", .doubleAttributeType)]
        employee.subentities = [manager]
        badge.properties = [G.attribute("number", .integer32AttributeType, optional: false), owner]
        project.properties = [G.attribute("code", .stringAttributeType), staff, tasks]
        task.properties = [G.attribute("text", .stringAttributeType), taskProject]
        return makeModel([department, employee, manager, badge, project, task])
    }

    /// A migration that copies objects left nulls where the new model wants a value and has a default: it ended with
    /// error 1570 of the validation.
    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func copiesGetTheDefaultForWhatIsRequiredNow(_ type: String) throws {
        let day = Date(timeIntervalSinceReferenceDate: 86_400)
        func model(isNew: Bool) -> NSManagedObjectModel {
            func attribute(_ name: String, _ type: NSAttributeType, _ value: Any) -> NSAttributeDescription {
                G.attribute(name, type, optional: !isNew, default: isNew ? value : nil)
            }
            let (car, owner) = (G.entity("Car"), G.entity("Owner"))
            let owners = G.relationship("owner", to: owner, toMany: isNew)
            let cars = G.relationship("cars", to: car, toMany: true)
            G.link(owners, cars)
            car.properties = [
                attribute("plate", .stringAttributeType, "none"), attribute("doors", .integer16AttributeType, 4),
                attribute("sold", .dateAttributeType, day), G.attribute("note", .stringAttributeType), owners,
            ]
            owner.properties = [cars]
            return makeModel([car, owner])
        }
        let store = try MigratedStore(type)
        try store.with(model(isNew: false)) { context throws in
            _ = context.insert("Car", ["owner": context.insert("Owner", [:])])
            _ = context.insert("Car", ["plate": "own", "doors": 0, "note": "kept"])
            try context.save()
        }
        try store.with(model(isNew: true)) { context throws in
            let cars = try context.all("Car", sortedBy: "plate")
            #expect(cars.map { $0.value(forKey: "plate") as? String } == ["none", "own"])
            #expect(cars.map { $0.value(forKey: "doors") as? Int } == [4, 0])
            #expect(cars.map { $0.value(forKey: "sold") as? Date } == [day, day])
            #expect(cars.map { $0.value(forKey: "note") as? String } == [nil, "kept"])
            #expect(cars.map { $0.targets("owner").count } == [1, 0])
        }
    }

    @Test func relationshipsKeepTheirObjectsUnderOtherNames() throws {
        let store = try MigratedStore()
        try store.with(G.company()) { context throws in
            let departments = (0..<3).map { context.insert("Department", ["title": "d\($0)"]) }
            let projects = (0..<4).map { context.insert("Project", ["code": "p\($0)"]) }
            var people: [NSManagedObject] = []
            for index in 0..<30 {
                let person = context.insert(index % 5 == 0 ? "Manager" : "Employee", ["name": "e\(index)"])
                person.setValue(departments[index % 3], forKey: "department")
                person.setValue(NSSet(array: [projects[index % 4], projects[(index + 1) % 4]]), forKey: "projects")
                if let last = people.last { person.setValue(NSSet(object: last), forKey: "friends") }
                let badge = context.insert("Badge", ["number": index])
                person.setValue(badge, forKey: "badge")
                people.append(person)
            }
            for project in projects {
                let tasks = (0..<5).reversed().map { context.insert("Task", ["text": "t\($0)"]) }
                project.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            }
            try context.save()
        }
        try store.with(Self.renamedCompany()) { context throws in
            for (index, unit) in try context.all("Unit", sortedBy: "title").enumerated() {
                #expect(unit.text("aaa") == "first")
                let workers = try #require(unit.value(forKey: "workers") as? Set<NSManagedObject>)
                #expect(
                    Set(workers.compactMap { $0.text("name") })
                        == Set((0..<30).filter { $0 % 3 == index }.map { "e\($0)" }))
            }
            for project in try context.all("AProject", sortedBy: "code") {
                let number = try #require(Int(project.text("code")?.dropFirst() ?? ""))
                let people = try #require(project.value(forKey: "people") as? Set<NSManagedObject>)
                let expected = (0..<30).filter { $0 % 4 == number || ($0 + 1) % 4 == number }.map { "e\($0)" }
                #expect(Set(people.compactMap { $0.text("name") }) == Set(expected))
                let steps = try #require(project.value(forKey: "steps") as? NSOrderedSet)
                #expect(steps.compactMap { ($0 as? NSManagedObject)?.text("text") } == ["t4", "t3", "t2", "t1", "t0"])
            }
            let worker = try #require(context.all("Worker", "name == 'e7'").first)
            #expect(
                Set((worker.value(forKey: "mates") as? Set<NSManagedObject> ?? []).compactMap { $0.text("name") }) == [
                    "e6", "e8",
                ])
            #expect((worker.value(forKey: "projects") as? Set<NSManagedObject>)?.count == 2)
            #expect((worker.value(forKey: "badge") as? NSManagedObject)?.value(forKey: "number") as? Int32 == 7)
            #expect(try context.all("Worker", "unit.title == 'd1' AND ANY projects.code == 'p1'").count == 6)
            worker.setValue(NSSet(), forKey: "projects")
            context.delete(try #require(context.all("Worker", "name == 'e8'").first))
            try context.save()
        }
        try store.with(Self.renamedCompany()) { context throws in
            let worker = try #require(context.all("Worker", "name == 'e7'").first)
            #expect((worker.value(forKey: "projects") as? Set<NSManagedObject>)?.isEmpty == true)
            #expect(
                Set((worker.value(forKey: "mates") as? Set<NSManagedObject> ?? []).compactMap { $0.text("name") }) == [
                    "e6"
                ])
            #expect(try context.all("Worker").count == 29)
        }
    }

    /// Two entities, with relationships as told.
    private static func pair(manyOwners: Bool, ordered: Bool = false, toMany: Bool) -> NSManagedObjectModel {
        let owner = G.entity("Owner")
        let pet = G.entity("Pet")
        let pets = G.relationship(toMany ? "pets" : "pet", to: pet, toMany: toMany, ordered: ordered).renamed(
            from: "pet")
        let owners = G.relationship(manyOwners ? "owners" : "owner", to: owner, toMany: manyOwners).renamed(
            from: "owner")
        G.link(pets, owners)
        owner.properties = [G.attribute("name", .stringAttributeType), pets]
        pet.properties = [G.attribute("name", .stringAttributeType), owners]
        return makeModel([owner, pet])
    }

    private static func filledPairs() throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(pair(manyOwners: false, toMany: false)) { context throws in
            for index in 0..<40 {
                let owner = context.insert("Owner", ["name": "o\(index)"])
                let pet = context.insert("Pet", ["name": "p\(index)"])
                if index % 4 != 0 { owner.setValue(pet, forKey: "pet") }
            }
            try context.save()
        }
        return store
    }

    @Test(arguments: [false, true])
    func aToOneRelationshipBecomesToMany(ordered: Bool) throws {
        let store = try Self.filledPairs()
        let newer = Self.pair(manyOwners: false, ordered: ordered, toMany: true)
        try store.with(newer) { context throws in
            for owner in try context.all("Owner") {
                let index = try #require(Int(owner.text("name")?.dropFirst() ?? ""))
                let pets = try context.all("Pet", "owner.name == 'o\(index)'")
                #expect(pets.map { $0.text("name") } == (index % 4 == 0 ? [] : ["p\(index)"]))
                #expect(owner.targets("pets") == Set(pets.map { $0.uri() }))
            }
        }
        try store.with(Self.pair(manyOwners: true, ordered: ordered, toMany: true)) { context throws in
            let pet = try #require(context.all("Pet", "name == 'p7'").first)
            #expect((pet.value(forKey: "owners") as? Set<NSManagedObject>)?.map { $0.text("name") } == ["o7"])
            pet.setValue(NSSet(), forKey: "owners")
            try context.save()
            #expect(try context.all("Owner", "pets.@count == 0").count == 11)
        }
    }

    @Test func anUnorderedRelationshipBecomesOrderedAndBack() throws {
        let store = try Self.filledPairs()
        try store.with(Self.pair(manyOwners: false, toMany: true)) { context throws in
            let owner = try #require(context.all("Owner", "name == 'o1'").first)
            let pets = try context.all("Pet", "name IN {'p1', 'p2', 'p3'}")
            owner.setValue(NSSet(array: pets), forKey: "pets")
            try context.save()
        }
        try store.with(Self.pair(manyOwners: false, ordered: true, toMany: true)) { context throws in
            let owner = try #require(context.all("Owner", "name == 'o1'").first)
            let pets = try #require(owner.value(forKey: "pets") as? NSOrderedSet)
            #expect(pets.count == 3)
            owner.setValue(NSOrderedSet(array: pets.reversed.array), forKey: "pets")
            try context.save()
        }
        try store.with(Self.pair(manyOwners: false, toMany: true)) { context throws in
            let owner = try #require(context.all("Owner", "name == 'o1'").first)
            #expect((owner.value(forKey: "pets") as? Set<NSManagedObject>)?.count == 3)
        }
    }

    @Test func aNewUniquenessConstraintIsCheckedAgainstAllObjects() throws {
        func model(unique: Bool) -> NSManagedObjectModel {
            LightMigrationTests.people { person in
                guard unique else { return }
                person.uniquenessConstraints = [["name"]]
                person.properties.append(G.attribute("extra", .stringAttributeType))
            }
        }
        let store = try LightMigrationTests.filled(50)
        try store.with(model(unique: false)) { context throws in
            _ = context.insert("Person", ["name": "n7"])
            try context.save()
        }
        #expect(store.failure(model(unique: true))?.code == NSMigrationConstraintViolationError)
        try store.with(model(unique: false), [:]) { context throws in
            let twins = try context.all("Person", "name == 'n7'")
            #expect(twins.count == 2)
            context.delete(try #require(twins.first))
            try context.save()
        }
        try store.with(model(unique: true)) { context throws in
            #expect(try context.all("Person").count == 50)
            _ = context.insert("Person", ["name": "n7"])
            #expect(throws: (any Error).self) { try context.save() }
        }
    }

    @Test func anEntityThatIsGoneLeavesNoReferences() throws {
        func model(withCat: Bool) -> NSManagedObjectModel {
            let owner = G.entity("Owner")
            let pet = G.entity("Pet")
            let cat = G.entity("Cat")
            let pets = G.relationship("pets", to: pet, toMany: true)
            let ownerOf = G.relationship("owner", to: owner)
            G.link(pets, ownerOf)
            owner.properties = [G.attribute("name", .stringAttributeType), pets]
            pet.properties = [G.attribute("name", .stringAttributeType), ownerOf]
            if withCat { pet.subentities = [cat] }
            return makeModel(withCat ? [owner, pet, cat] : [owner, pet])
        }
        let store = try MigratedStore()
        try store.with(model(withCat: true)) { context throws in
            let owner = context.insert("Owner", ["name": "o"])
            for index in 0..<10 {
                context.insert(index % 2 == 0 ? "Cat" : "Pet", ["name": "\(index)"]).setValue(owner, forKey: "owner")
            }
            try context.save()
        }
        try store.with(model(withCat: false)) { context throws in
            let owner = try #require(context.all("Owner").first)
            #expect((owner.value(forKey: "pets") as? Set<NSManagedObject>)?.count == 5)
            #expect(try context.all("Pet").count == 5)
        }
    }
}
