import CoreData
import Foundation
import Testing

/// Does what the policy of the library's own does, object by object.
final class PlainObjectPolicy: NSEntityMigrationPolicy {}

/// Mappings that take attributes over as they are copy rows; with a policy of the program's own, objects are made. What
/// comes of both is the same.
@Suite struct RowMappingTests {
    private typealias G = GraphModel

    private static var kinds: [(String, NSAttributeType, Any)] {
        [
            ("short", .integer16AttributeType, Int16.min), ("middle", .integer32AttributeType, Int32.max),
            ("long", .integer64AttributeType, Int64.min), ("flag", .booleanAttributeType, true),
            ("real", .floatAttributeType, Float(1.5)), ("wide", .doubleAttributeType, 0.1),
            ("money", .decimalAttributeType, NSDecimalNumber(string: "12.34")),
            ("text", .stringAttributeType, "Ünal"),
            ("day", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 1.25)),
            ("id", .UUIDAttributeType, UUID(uuidString: "C4637490-BD7F-4428-B093-63A1720E17D2") ?? UUID()),
            ("page", .URIAttributeType, URL(string: "https://example.org/a") ?? URL(fileURLWithPath: "/")),
            ("bytes", .binaryDataAttributeType, Data(repeating: 7, count: 200_000)),
            ("tags", .transformableAttributeType, ["a", "b"] as NSArray),
        ]
    }
    private static let longText = String(repeating: "long ", count: 3_000)

    private static func model(_ number: Int, mandatory: Bool = false) -> NSManagedObjectModel {
        let thing = G.entity("Thing")
        let part = G.entity("Part")
        let box = G.entity("Box")
        let (things, boxOf) = (G.relationship("things", to: thing, toMany: true), G.relationship("box", to: box))
        G.link(things, boxOf)
        thing.properties = kinds.map { name, type, _ in
            let attribute = G.attribute(number == 2 ? name + "2" : name, type, optional: !(mandatory && name == "text"))
            if number == 2 { attribute.renamingIdentifier = name }
            return attribute
        }
        thing.properties += [boxOf]
        if number == 2 {
            thing.properties += [
                G.attribute("extra", .stringAttributeType, default: longText),
                G.attribute("level", .integer16AttributeType, optional: false, default: 3),
                G.attribute("none", .stringAttributeType),
            ]
        }
        part.properties = [G.attribute("weight", .doubleAttributeType)]
        thing.subentities = [part]
        box.properties = [G.attribute("label", .stringAttributeType, optional: false, default: "box"), things]
        return makeModel([thing, part, box])
    }

    private static func filled() throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(model(1)) { context throws in
            let boxes = (0..<3).map { context.insert("Box", ["label": "b\($0)"]) }
            for index in 0..<50 {
                let thing = context.insert(index % 4 == 0 ? "Part" : "Thing", [:])
                for (name, _, value) in kinds where index % 5 != 4 { thing.setValue(value, forKey: name) }
                thing.setValue("t\(index)", forKey: "text")
                if index % 4 == 0 { thing.setValue(Double(index), forKey: "weight") }
                if index % 3 > 0 { thing.setValue(boxes[index % 3], forKey: "box") }
            }
            try context.save()
        }
        return store
    }

    /// Every object as a text.
    private static func texts(_ store: MigratedStore, _ model: NSManagedObjectModel) throws -> [String] {
        try store.with(model, [:]) { context throws in
            try (context.all("Thing") + context.all("Box")).map { object in
                object.entity.propertiesByName.keys.sorted().map { key in
                    if key == "things" { return "\(object.targets(key).count) things" }
                    let value = object.value(forKey: key)
                    return "\(key)=\((value as? NSManagedObject)?.text("label") ?? value.map { "\($0)" } ?? "nil")"
                }.joined(separator: " ")
            }.sorted()
        }
    }

    private static func migrated(
        _ source: MigratedStore, to destination: NSManagedObjectModel, by policy: String?
    ) throws -> MigratedStore {
        try RowMigration(source: source, from: model(1), to: destination).run { mapping in
            for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = policy }
        }
    }

    @Test func rowsAndObjectsBecomeTheSame() throws {
        NSEntityMigrationPolicy.register(PlainObjectPolicy.self)
        let source = try Self.filled()
        let rows = try Self.texts(Self.migrated(source, to: Self.model(2), by: nil), Self.model(2))
        let objects = try Self.texts(Self.migrated(source, to: Self.model(2), by: "PlainObjectPolicy"), Self.model(2))
        #expect(rows.count == 53)
        for (row, object) in zip(rows, objects) { #expect(row == object) }
        #expect(rows.count { $0.contains("extra=\(Self.longText)") && $0.contains("level=3") } == 50)
        #expect(rows.count { $0.contains("box=b1") } == 17)
    }

    @Test(arguments: [nil, "PlainObjectPolicy"]) func whatIsMissingIsFoundByValidation(policy: String?) throws {
        NSEntityMigrationPolicy.register(PlainObjectPolicy.self)
        let source = try Self.filled()
        _ = try Self.migrated(source, to: Self.model(1, mandatory: true), by: policy)
        try source.with(Self.model(1)) { context throws in
            try #require(context.all("Thing").first).setValue(nil, forKey: "text")
            try context.save()
        }
        let error = #expect(throws: CocoaError.self) {
            _ = try Self.migrated(source, to: Self.model(1, mandatory: true), by: policy)
        }
        #expect(error?.code == .validationMissingMandatoryProperty)
    }
}
