import CoreData
import Foundation
import StrataLog
import StrataTestKit

@testable import Strata

/// A random model with attributes of every type and relationships of every kind, and a store with random values.
struct RandomText {
    private var random: SeededGenerator
    let model = NSManagedObjectModel()
    private var objects: [NSManagedObject] = []

    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
        .doubleAttributeType, .decimalAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType,
        .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType,
    ]
    /// What files, URIs, JSON and columns might take for something of their own.
    private static let entityNames = [
        "../evil", "a/b", "Ünal", "uri", "A", "a", "%2E", "strata", "A.b", "nul\u{0}", ".links", "\"q\"", "x,y",
        String(repeating: "long", count: 90), String(repeating: "long", count: 90) + "er", "\u{FEFF}mark",
    ]
    private static let propertyNames = [
        "uri", "n", "é", "a b", "x,y", "\"q\"", "entity", "values", "links", "\u{FEFF}t", "line\nbreak", "N", "strata",
    ]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var names = Self.entityNames.shuffled(using: &random)
        var entities: [NSEntityDescription] = []
        for index in 0..<Int.random(in: 2...5, using: &random) {
            let entity = NSEntityDescription()
            entity.name = names.removeLast()
            if index > 1, let parent = entities.randomElement(using: &random) { parent.subentities.append(entity) }
            entities.append(entity)
        }
        for (index, entity) in entities.enumerated() {
            let names = Self.propertyNames.shuffled(using: &random).prefix(5).map { "\($0)\(index)" }
            entity.properties += (index == 0 ? names + ["uri"] : names).map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = Self.types.randomElement(using: &random) ?? .stringAttributeType
                attribute.isOptional = true
                return attribute
            }
        }
        for index in 0..<4 { relate(entities, index) }
        model.entities = entities
    }

    private mutating func relate(_ entities: [NSEntityDescription], _ index: Int) {
        func make(_ name: String, _ destination: NSEntityDescription?, isToMany: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOrdered = isToMany && Bool.random(using: &random)
            relationship.isOptional = true
            return relationship
        }
        let (from, to) = (entities.randomElement(using: &random), entities.randomElement(using: &random))
        let kinds = [(false, false), (false, true), (true, false), (true, true)]
        let (isToMany, isInverseToMany) = kinds[index]
        let there = make("there\(index)", to, isToMany: isToMany)
        let back = make("back\(index)", from, isToMany: isInverseToMany)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        from?.properties.append(there)
        to?.properties.append(back)
    }

    // MARK: Values

    mutating func makeStore(_ url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        var copy = self
        try context.performAndWait {
            try copy.fill(context)
            try context.save()
            copy.objects = []
        }
        self = copy
        try coordinator.remove(store)
    }

    private mutating func fill(_ context: NSManagedObjectContext) throws {
        for _ in 0..<40 {
            let entity = model.entities[Int.random(in: 0..<model.entities.count, using: &random)]
            let object = NSManagedObject(entity: entity, insertInto: context)
            for case let attribute as NSAttributeDescription in entity.properties
            where Int.random(in: 0..<4, using: &random) > 0 {
                object.setValue(value(of: attribute.attributeType), forKey: attribute.name)
            }
            objects.append(object)
        }
        for object in objects {
            for case let relationship as NSRelationshipDescription in object.entity.properties {
                let targets = objects.filter {
                    $0.entity.isKindOf(entity: relationship.destinationEntity ?? object.entity)
                }
                guard let target = targets.randomElement(using: &random), Bool.random(using: &random) else { continue }
                if !relationship.isToMany {
                    object.setValue(target, forKey: relationship.name)
                } else if relationship.isOrdered {
                    object.mutableOrderedSetValue(forKey: relationship.name).add(target)
                } else {
                    object.mutableSetValue(forKey: relationship.name).add(target)
                }
            }
        }
    }

    private mutating func value(of type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType: integer(Int16.self)
        case .integer32AttributeType: integer(Int32.self)
        case .integer64AttributeType: integer(Int64.self)
        case .booleanAttributeType: Bool.random(using: &random)
        case .floatAttributeType: float()
        case .doubleAttributeType: double()
        case .decimalAttributeType: decimal()
        case .stringAttributeType: text()
        case .dateAttributeType: date()
        case .binaryDataAttributeType: data()
        case .UUIDAttributeType:
            UUID(uuidString: "C4637490-BD7F-4428-B093-63A1720E17D\(Int.random(in: 0...9, using: &random))")
        case .URIAttributeType: URL(string: "https://example.org/\(Int.random(in: 0...99, using: &random))?a=%2C&b=,")
        case .transformableAttributeType: [text(), text()] as NSArray
        default: nil
        }
    }

    private mutating func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        [.min, .max, 0, -1, Number.random(in: .min ... .max, using: &random)].randomElement(using: &random) ?? 0
    }

    mutating func double() -> Double {
        let values: [Double] = [
            Double(bitPattern: random.next()), Double.random(in: -1e6...1e6, using: &random), -0.0, .infinity,
            -.infinity,
            .nan, -.nan, Double(bitPattern: 0x7FF8_0000_0000_0005), Double(bitPattern: 0xFFF4_0000_0000_0001),
            .leastNonzeroMagnitude, .greatestFiniteMagnitude, 9_007_199_254_740_992, 1e16, 0.1 + 0.2, 1e-7,
        ]
        return values.randomElement(using: &random) ?? 0
    }

    private mutating func float() -> Float {
        let values: [Float] = [
            Float(bitPattern: UInt32(truncatingIfNeeded: random.next())), Float.random(in: -1e6...1e6, using: &random),
            -0.0, .infinity, .nan, Float(bitPattern: 0x7FC0_0005), .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            16_777_216, 0.1,
        ]
        return values.randomElement(using: &random) ?? 0
    }

    mutating func decimal() -> NSDecimalNumber {
        let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
            String(Int.random(in: 0...9, using: &random))
        }.joined()
        let exponent = Int.random(in: -90...89, using: &random)
        let sign = Bool.random(using: &random) ? "-" : ""
        return NSDecimalNumber(decimal: Decimal(string: "\(sign)\(digits)e\(exponent)") ?? 0)
    }

    private mutating func text() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "é", "\u{301}", "\u{FEFF}", "\"", "\\", ",", "\r", "\n", "\t", "\u{0}", "\u{7F}", "\u{1F680}", " ",
            "\u{2028}", "\u{FFFD}", "{", "\u{10FFFF}", "'", ";", "=",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
        }
        return text
    }

    private mutating func date() -> Date {
        let seconds: [Double] = [
            Double(Int.random(in: -100_000_000_000...250_000_000_000, using: &random)),
            Double.random(in: -14_000_000_000...1_000_000_000, using: &random), -0.0, 0.001, double(),
            Double(Int.random(in: -63_000_000_000...250_000_000_000, using: &random)) + 0.25,
        ]
        return Date(timeIntervalSinceReferenceDate: seconds.randomElement(using: &random) ?? 0)
    }

    private mutating func data() -> Data {
        Data((0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
}

/// What the rows of a store have, byte by byte.
enum StoreContents {
    static func of(_ url: URL) throws -> [String] {
        let reader = try StoreReader(url)
        let names = Dictionary(uniqueKeysWithValues: reader.layouts.rows.map { ($0.number, $0) })
        var contents: [String] = []
        for root in reader.layouts.rows where root.number == root.root {
            try reader.forEachRow(root: root.root) { row in
                guard let rows = names[row.entity] else { return }
                let values = try rows.slots.enumerated().map { slot, info in
                    "\(info.name)=\(try value(row, slot, info.kind) ?? "null")"
                }
                contents.append("\(rows.name)/\(row.key): \(values.joined(separator: ";"))")
            }
        }
        for links in reader.layouts.links {
            var pairs: [String] = []
            try reader.forEachRow(root: links.number) { row in
                let ends = try (0...1).map { try row.reference($0).map { "\($0.entity)/\($0.key)" } ?? "" }
                pairs.append("\(ends) \(try row.integer(2) ?? -1) \(try row.integer(3) ?? -1)")
            }
            contents += pairs.sorted()
        }
        return contents
    }

    private static func value(_ row: StoredRow, _ slot: Int, _ kind: RowLayouts.Slot.Kind) throws -> String? {
        switch kind {
        case .bool: try row.bool(slot).map { "\($0)" }
        case .int16, .int32, .int64, .position: try row.integer(slot).map { "\($0)" }
        case .float: try row.float(slot).map { "\($0.bitPattern)" }
        case .double, .date: try row.double(slot).map { "\($0.bitPattern)" }
        case .uuid: try row.uuid(slot).map { "\($0)" }
        case .toOne: try row.reference(slot).map { "\($0.entity)/\($0.key)" }
        case .decimal: try row.withBytes(slot) { "\(StoredDecimal.value($0))" }
        case .string, .uri, .data, .transformable: try row.withBytes(slot) { "\(Array($0))" }
        }
    }
}
