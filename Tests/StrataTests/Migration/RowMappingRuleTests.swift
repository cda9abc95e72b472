import CoreData
import Foundation
import Testing

/// A migration by a mapping model that was inferred and then changed.
struct RowMigration {
    let source: MigratedStore
    let first: NSManagedObjectModel
    let second: NSManagedObjectModel

    init(source: MigratedStore, from first: NSManagedObjectModel, to second: NSManagedObjectModel) {
        (self.source, self.first, self.second) = (source, first, second)
    }

    /// - Returns: the destination.
    func run(_ prepare: (NSMappingModel) -> Void = { _ in }) throws -> MigratedStore {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        prepare(mapping)
        let store = try MigratedStore()
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        try manager.migrateStore(
            from: source.url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: store.url,
            destinationType: NSSQLiteStoreType)
        #expect(manager.migrationProgress == 1)
        return store
    }
}

/// Takes the first person's name away when all mappings have made their objects.
final class SpoilingPolicy: NSEntityMigrationPolicy {
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try manager.destinationContext.all("Person", sortedBy: "age").first?.setValue(nil, forKey: "name")
    }
}

/// As above, takes the first person away.
final class DeletingPolicy: NSEntityMigrationPolicy {
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let first = try manager.destinationContext.all("Person", sortedBy: "age").first
        manager.destinationContext.delete(try #require(first))
    }
}

/// Counts what it hears of.
final class CountingManager: NSMigrationManager, @unchecked Sendable {
    // Unchecked, as its superclass: used by one thread.
    var pairs = 0

    override func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        pairs += 1
        super.associate(
            sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
    }
}

/// What is asked of objects is asked of rows that are copied, too; and what rows cannot do is done with objects.
@Suite struct RowMappingRuleTests {
    private typealias G = GraphModel

    /// Persons and pilots; badges, which have the same attributes in other places.
    private static func model(_ adjust: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let (person, pilot, badge) = (G.entity("Person"), G.entity("Pilot"), G.entity("Badge"))
        person.properties = [
            G.attribute("age", .integer16AttributeType), G.attribute("name", .stringAttributeType),
            G.attribute("photo", .binaryDataAttributeType),
        ]
        pilot.properties = [G.attribute("licence", .stringAttributeType)]
        person.subentities = [pilot]
        badge.properties = [
            G.attribute("aaa", .stringAttributeType), G.attribute("aab", .integer64AttributeType),
            G.attribute("age", .integer16AttributeType), G.attribute("name", .stringAttributeType),
        ]
        adjust(person)
        return makeModel([person, pilot, badge])
    }

    private static func filled(photoByteCount: Int = 0) throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(model()) { context throws in
            for index in 0..<20 {
                let person = context.insert(index < 5 ? "Pilot" : "Person", ["name": "n\(index)", "age": index])
                if photoByteCount > 0, index > 16 {
                    person.setValue(Data(repeating: UInt8(index), count: photoByteCount), forKey: "photo")
                }
            }
            for index in 0..<3 { _ = context.insert("Badge", ["aaa": "x", "name": "b\(index)", "age": 100 + index]) }
            try context.save()
        }
        return store
    }

    private static func mapping(_ name: String, _ mappings: NSMappingModel) -> NSEntityMapping? {
        mappings.entityMappings.first { $0.destinationEntityName == name }
    }

    private static func names(_ store: MigratedStore, _ model: NSManagedObjectModel) throws -> [String] {
        try store.with(model, [:]) { context throws in
            try context.all("Person", sortedBy: "age").map { $0.text("name") ?? "nil" }
        }
    }

    private static func useObjects(_ mappings: NSMappingModel) {
        NSEntityMigrationPolicy.register(PlainObjectPolicy.self)
        for entity in mappings.entityMappings { entity.entityMigrationPolicyClassName = "PlainObjectPolicy" }
    }

    /// What a migration fails with.
    private static func failure(
        _ second: NSManagedObjectModel, rows: Bool, _ prepare: (NSMappingModel) -> Void = { _ in }
    ) throws -> CocoaError.Code? {
        let migration = RowMigration(source: try filled(), from: model(), to: second)
        let error = #expect(throws: CocoaError.self) {
            _ = try migration.run {
                if !rows { useObjects($0) }
                prepare($0)
            }
        }
        return error?.code
    }

    @Test(arguments: [true, false]) func limitsAreChecked(rows: Bool) throws {
        let limited = Self.model {
            $0.attributesByName["age"]?.setValidationPredicates(
                [NSPredicate(format: "SELF < 19")], withValidationWarnings: [])
        }
        #expect(try Self.failure(limited, rows: rows)?.rawValue == NSManagedObjectValidationError)
    }

    @Test(arguments: [true, false]) func whatMustBeUniqueIs(rows: Bool) throws {
        let unique = Self.model { $0.uniquenessConstraints = [["name"]] }
        let source = try Self.filled()
        try source.with(Self.model()) { context throws in
            _ = context.insert("Person", ["name": "n7"])
            try context.save()
        }
        let error = #expect(throws: CocoaError.self) {
            _ = try RowMigration(source: source, from: Self.model(), to: unique).run {
                if !rows { Self.useObjects($0) }
            }
        }
        #expect(error?.code.rawValue == NSMigrationConstraintViolationError)
    }

    @Test(arguments: [true, false]) func whatNoMappingSetsIsMissed(rows: Bool) throws {
        let strict = Self.model { $0.attributesByName["name"]?.isOptional = false }
        let code = try Self.failure(strict, rows: rows) { mappings in
            let person = Self.mapping("Person", mappings)
            person?.attributeMappings = person?.attributeMappings?.filter { $0.name != "name" }
        }
        #expect(code == .validationMissingMandatoryProperty)
    }

    @Test(arguments: [true, false]) func whatAPolicyOfAnotherMappingSpoilsIsFound(rows: Bool) throws {
        NSEntityMigrationPolicy.register(SpoilingPolicy.self)
        let strict = Self.model { $0.attributesByName["name"]?.isOptional = false }
        let code = try Self.failure(strict, rows: rows) { mappings in
            Self.mapping("Badge", mappings)?.entityMigrationPolicyClassName = "SpoilingPolicy"
        }
        #expect(code == .validationMissingMandatoryProperty)
    }

    @Test(arguments: [true, false]) func whatAPolicyOfAnotherMappingDeletesIsGone(rows: Bool) throws {
        NSEntityMigrationPolicy.register(DeletingPolicy.self)
        let limited = Self.model {
            $0.attributesByName["age"]?.setValidationPredicates(
                [NSPredicate(format: "SELF > 0")], withValidationWarnings: [])
        }
        let migration = RowMigration(source: try Self.filled(), from: Self.model(), to: limited)
        let store = try migration.run { mappings in
            if !rows { Self.useObjects(mappings) }
            Self.mapping("Badge", mappings)?.entityMigrationPolicyClassName = "DeletingPolicy"
        }
        #expect(try Self.names(store, limited) == (1..<20).map { "n\($0)" })
    }

    @Test func aManagerOfTheProgramsOwnHearsOfEachPair() throws {
        let renamed = Self.model {
            let photo = $0.attributesByName["photo"]
            photo?.name = "picture"
            photo?.renamingIdentifier = "photo"
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.model(), destinationModel: renamed)
        let manager = CountingManager(sourceModel: Self.model(), destinationModel: renamed)
        let (source, store) = (try Self.filled(), try MigratedStore())
        try manager.migrateStore(
            from: source.url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: store.url,
            destinationType: NSSQLiteStoreType)
        #expect(manager.pairs == 23)
        #expect(try Self.names(store, renamed) == (0..<20).map { "n\($0)" })
    }

    /// Objects of an entity that inherits from the mapping's have its attributes where it has them, others have not.
    @Test(arguments: ["Person", "Badge"], [true, false])
    func aSourceExpressionMayFindOtherEntities(entity: String, rows: Bool) throws {
        let second = Self.model { $0.attributesByName["photo"]?.isOptional = true }
        second.entitiesByName["Pilot"]?.properties.append(G.attribute("level", .integer16AttributeType))
        let migration = RowMigration(source: try Self.filled(), from: Self.model(), to: second)
        let store = try migration.run { mappings in
            if !rows { Self.useObjects(mappings) }
            let person = Self.mapping("Person", mappings)
            person?.attributeMappings = person?.attributeMappings?.filter { $0.name != "photo" }
            person?.sourceExpression = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: NSFetchRequest<any NSFetchRequestResult>(entityName: entity)),
                context: NSExpression(format: "$manager.sourceContext"), countOnly: false)
            Self.mapping("Pilot", mappings)?.sourceExpression = NSExpression(forConstantValue: [NSManagedObject]())
        }
        let wanted = entity == "Person" ? (0..<20).map { "n\($0)" } : (0..<3).map { "b\($0)" }
        #expect(try Self.names(store, second) == wanted)
    }

    /// They lie in memory until a transaction is committed, so it takes a few of them only.
    @Test func largeValuesAreCopiedAFewAtATime() throws {
        let second = Self.model { $0.properties.append(G.attribute("level", .integer16AttributeType)) }
        let source = try Self.filled(photoByteCount: 9 << 20)
        let store = try RowMigration(source: source, from: Self.model(), to: second).run()
        try store.with(second, [:]) { context throws in
            let people = try context.all("Person", sortedBy: "age")
            #expect(people.map { $0.text("name") } == (0..<20).map { "n\($0)" })
            for (index, person) in people.enumerated() {
                let photo = person.value(forKey: "photo") as? Data
                #expect(photo == (index > 16 ? Data(repeating: UInt8(index), count: 9 << 20) : nil))
            }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            let sizes = transactions.map { transaction in
                (transaction.changes ?? []).count { $0.changedObjectID.entity.name == "Person" }
            }
            #expect(sizes.filter { $0 > 0 } == [14, 1])
        }
    }
}
