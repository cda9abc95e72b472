import CoreData
import Foundation
import Testing

/// What Core Data's reference says of derived attributes, fetched properties, expression descriptions and asynchronous
/// fetches, where no other suite says it.
@Suite struct DerivedReferenceTests {
    private typealias G = GraphModel

    private static func derived(
        _ name: String, _ type: NSAttributeType, _ format: String
    )
        -> NSDerivedAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    private static func model() -> NSManagedObjectModel {
        let (team, member) = (G.entity("Team"), G.entity("Member"))
        let members = G.relationship("members", to: member, toMany: true)
        let teamOf = G.relationship("team", to: team)
        G.link(members, teamOf)
        let friends = G.relationship("friends", to: member, toMany: true)
        friends.inverseRelationship = friends
        team.properties = [
            G.attribute("name", .stringAttributeType), members,
            derived("size", .integer64AttributeType, "members.@count"),
            derived("ages", .integer64AttributeType, "members.age.@sum"),
            derived("agesToo", .integer64AttributeType, "sum:(members.age)"),
            derived("touched", .dateAttributeType, "now()"),
        ]
        member.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType), teamOf, friends,
            derived("upper", .stringAttributeType, "uppercase:(name)"),
            derived("lower", .stringAttributeType, "lowercase:(name)"),
            derived("search", .stringAttributeType, "canonical:(name)"),
            derived("copy1", .stringAttributeType, "name"),
            derived("teamName", .stringAttributeType, "team.name"),
            derived("teamSearch", .stringAttributeType, "canonical:(team.name)"),
            derived("friendCount", .integer32AttributeType, "friends.@count"),
        ]
        let model = NSManagedObjectModel()
        model.entities = [team, member]
        return model
    }

    private static func texts(_ object: NSManagedObject) -> [String?] {
        ["upper", "lower", "search", "copy1", "teamName", "teamSearch"].map { object.text($0) }
    }

    /// Every expression of the reference's table; what is derived from null is null, and counts and sums of nothing are
    /// 0. Whoever saves: a context, or a child through its parent.
    @Test(arguments: StoreKind.allCases, [false, true])
    func everyExpressionIsDerived(_ kind: StoreKind, _ throughAChild: Bool) throws {
        let store = try TestStore(kind, Self.model())
        let top = store.context()
        let context = throughAChild ? ContextLine.child(of: top) : top
        func save() throws {
            try context.save()
            if throughAChild { try top.performAndWait { try top.save() } }
        }
        try context.check { () throws in
            let team = insert("Team", context).set(["name": "Équipe"])
            let first = insert("Member", context).set(["name": "Åsa Ö", "age": 30, "team": team])
            let second = insert("Member", context).set(["age": 12, "team": team])
            first.setValue(Set([second]), forKey: "friends")
            try save()
            let rows = store.context()
            func check(_ at: String, _ name: String?, _ ages: Int, _ friends: Int) {
                for context in [context, rows] {
                    context.performAndWait {
                        let (team, first, second) = (
                            context.object(with: team.objectID), context.object(with: first.objectID),
                            context.object(with: second.objectID)
                        )
                        if context === rows { context.refreshAllObjects() }
                        let search = name.map { _ in "equipe" }
                        #expect(Self.texts(first) == ["ÅSA Ö", "åsa ö", "asa o", "Åsa Ö", name, search], "\(at)")
                        #expect(Self.texts(second).prefix(4) == [nil, nil, nil, nil], "\(at)")
                        #expect(team.number("size") == (name == nil ? 1 : 2) && team.number("ages") == ages, "\(at)")
                        #expect(team.number("agesToo") == ages && team.value(forKey: "touched") is Date, "\(at)")
                        #expect(first.number("friendCount") == friends, "\(at)")
                        #expect(second.number("friendCount") == friends, "\(at)")
                    }
                }
            }
            check("inserted", "Équipe", 42, 1)
            second.setValue(20, forKey: "age")
            first.setValue(nil, forKey: "team")
            first.setValue(Set<NSManagedObject>(), forKey: "friends")
            try save()
            check("updated", nil, 20, 0)
            #expect(!context.hasChanges && !top.hasChanges)
        }
    }

    /// `now()` is the time of the object's own last save, not of others'.
    @Test(arguments: StoreKind.allCases) func nowIsWhenTheObjectWasSaved(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.check { () throws in
            let (one, two) = (insert("Team", context), insert("Team", context))
            try context.save()
            let before = try #require(one.value(forKey: "touched") as? Date)
            #expect(two.value(forKey: "touched") as? Date == before)
            _ = two.set(["name": "changed"])
            try context.save()
            #expect(one.value(forKey: "touched") as? Date == before)
            #expect(try #require(two.value(forKey: "touched") as? Date) > before)
        }
    }

    /// Before the first save there is nothing derived; unsaved changes are not reflected.
    @Test(arguments: StoreKind.allCases) func unsavedChangesAreNotReflected(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.check { () throws in
            let member = insert("Member", context).set(["name": "Ada"])
            context.processPendingChanges()
            #expect(member.text("upper") == nil)
            try context.save()
            _ = member.set(["name": "Bob"])
            context.processPendingChanges()
            #expect(member.text("upper") == "ADA")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
            request.predicate = NSPredicate(format: "upper == 'ADA'")
            #expect(try context.count(for: request) == 1)
            context.rollback()
            #expect(member.text("upper") == "ADA" && member.text("name") == "Ada")
        }
    }

    /// Stores that are files derive, too; nobody has to read them first.
    @Test(arguments: [NSPersistentStore.StoreType.binary, .xml])
    func fileStoresKeepWhatIsDerived(_ type: NSPersistentStore.StoreType) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-derived-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        func open() throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(type: type, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return (coordinator, context)
        }
        do {
            let (coordinator, context) = try open()
            try context.check { () throws in
                let team = insert("Team", context).set(["name": "Équipe"])
                _ = insert("Member", context).set(["name": "Åsa", "age": 30, "team": team])
                try context.save()
            }
            try coordinator.remove(coordinator.persistentStores[0])
        }
        let (coordinator, context) = try open()
        try context.check { () throws in
            let members = try fetchAll(
                NSManagedObject.self, "Member", context,
                NSPredicate(format: "search == 'asa' AND teamSearch == 'equipe' AND team.size == 1"))
            #expect(members.map { $0.text("upper") } == ["ÅSA"])
            // Such a store has no generations: its contexts read what is newest.
            try context.setQueryGenerationFrom(.current)
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = coordinator
            try other.check { () throws in
                _ = insert("Member", other).set(["name": "Bo"])
                try other.save()
            }
            try context.setQueryGenerationFrom(nil)
            #expect(try fetchAll(NSManagedObject.self, "Member", context).count == 2)
        }
    }

    /// "If you try to add a store to a coordinator whose model contains derived attributes of a type not supported by
    /// the store, the add fails and throws an error."
    @Test(arguments: StoreKind.allCases, ["shout:", "captain", "size"])
    func whatCannotBeDerivedKeepsTheStoreFromBeingAdded(_ kind: StoreKind, _ wrong: String) throws {
        let team = G.entity("Team")
        let attribute = Self.derived("wrong", .stringAttributeType, "name")
        attribute.derivationExpression =
            switch wrong {
            case "captain": NSExpression(forKeyPath: "captain.name")
            case "size": NSExpression(forKeyPath: "name.size")
            default: NSExpression(forFunction: wrong, arguments: [NSExpression(forKeyPath: "name")])
            }
        team.properties = [G.attribute("name", .stringAttributeType), attribute]
        let model = NSManagedObjectModel()
        model.entities = [team]
        let error = #expect(throws: CocoaError.self) { try TestStore(kind, model) }
        #expect(error?.errorCode == NSCoreDataError)
        #expect(error?.localizedDescription.contains("Team.wrong") == true)
        #expect(error?.localizedDescription.contains(wrong) == true)
    }

    // MARK: Fetched properties

    /// "A fetched property is not fetched until it is requested, and the results are then cached until the object is
    /// turned into a fault." It is an array in the request's order, and no change.
    @Test(arguments: StoreKind.allCases) func fetchedPropertiesAreStatic(_ kind: StoreKind) throws {
        let model = GraphModel.company()
        let property = NSFetchedPropertyDescription()
        property.name = "rich"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
        request.predicate = NSPredicate(format: "budget > 10")
        request.sortDescriptors = [NSSortDescriptor(key: "budget", ascending: false)]
        request.fetchLimit = 2
        property.fetchRequest = request
        model.entitiesByName["Employee"]?.properties.append(property)
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.check { () throws in
            let employee = Employee(context: context)
            for budget in [5, 20, 40, 30] { Department(context: context).budget = Int64(budget) }
            try context.save()
            func rich() -> [Int64]? { (employee.value(forKey: "rich") as? [Department])?.map(\.budget) }
            #expect(rich() == [40, 30])
            #expect(employee.changedValues().isEmpty && !context.hasChanges)
            Department(context: context).budget = 50
            try context.save()
            #expect(rich() == [40, 30])
            for turn in ["refresh", "merge", "all", "reset"] {
                Department(context: context).budget = 60
                try context.save()
                switch turn {
                case "refresh": context.refresh(employee, mergeChanges: false)
                case "merge": context.refresh(employee, mergeChanges: true)
                case "all": context.refreshAllObjects()
                default:
                    let id = employee.objectID
                    context.reset()
                    let again = context.object(with: id)
                    #expect((again.value(forKey: "rich") as? [Department])?.count == 2)
                    continue
                }
                #expect(rich()?.first == 60, "\(turn)")
            }
            #expect(employee.isFault == false || employee.managedObjectContext == nil)
        }
    }

    // MARK: Expression descriptions

    @Test(arguments: StoreKind.allCases) func expressionDescriptionsNameColumns(_ kind: StoreKind) throws {
        let column = NSExpressionDescription()
        #expect(column.expression == nil && column.expressionResultType == .undefinedAttributeType)
        column.name = "oldest"
        column.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "age")])
        column.expressionResultType = .integer16AttributeType
        let copy = try #require(column.copy() as? NSExpressionDescription)
        #expect(copy.name == "oldest" && copy.expressionResultType == .integer16AttributeType)
        #expect(copy.expression?.description == column.expression?.description)
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for age in [3, 40, 12] { Employee(context: context).age = Int16(age) }
            try context.save()
            for column in [column, copy] {
                let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = [column]
                #expect(try context.fetch(request).map { $0["oldest"] as? Int } == [40])
            }
        }
    }

    // MARK: Asynchronous fetches

    /// "Progress is reported to the current progress": the fetch is a child of the one that is current when it begins.
    @Test(arguments: StoreKind.allCases) func aFetchIsPartOfTheCurrentProgress(_ kind: StoreKind) async throws {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        let whole = Progress(totalUnitCount: 1)
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    continuation.resume(returning: result.finalResult?.count ?? -1)
                }
                whole.becomeCurrent(withPendingUnitCount: 1)
                defer { whole.resignCurrent() }
                do { _ = try context.execute(fetch) } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(count == 40)
        #expect(whole.fractionCompleted == 1 && whole.isFinished)
    }
}
