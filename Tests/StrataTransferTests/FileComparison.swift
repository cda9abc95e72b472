import CoreData
import Foundation

@testable import StrataTransfer

/// Gives a transformable value's bytes as they are stored.
final class StoredBytesTransformer: ValueTransformer, @unchecked Sendable {
    // Unchecked, as its superclass has to be: there is no state.

    static let name = NSValueTransformerName("StrataTransferTests.StoredBytes")

    static func register() { ValueTransformer.setValueTransformer(StoredBytesTransformer(), forName: name) }

    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { value }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }
}

/// Compares a store that was imported with the file that it came from: each object, value and relationship with what
/// SQLite shows. Knows Core Data's layout on its own.
struct FileComparison {
    let file: URL
    let store: URL
    /// Columns whose names are not those of their properties, by "Entity.property".
    var columns: [String: String] = [:]

    private struct Source {
        let database: SQLiteFile
        var uuid: String
        /// The entities' numbers by name, and the other way round.
        var numbers: [String: Int64] = [:]
        var names: [Int64: String] = [:]

        init(_ url: URL, _ model: NSManagedObjectModel) throws {
            database = try SQLiteFile.reading(url)
            let metadata = try database.prepare("SELECT Z_UUID FROM Z_METADATA")
            // Small letters are the same UUID's.
            uuid = try metadata.step() ? metadata.shown(0).uppercased() : ""
            let entities = try database.prepare("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
            while try entities.step() {
                let stored = entities.shown(1)
                // Core Data leaves the old name in the file when it renames an entity.
                let renamed = model.entities.first { $0.renamingIdentifier == stored }?.name
                let name = model.entitiesByName[stored] == nil ? renamed ?? stored : stored
                let number = entities.integer(0) ?? 0
                numbers[name] = number
                names[number] = name
            }
        }
    }

    /// How many values were compared, and where file and store are different.
    func run() throws -> (values: Int, differences: [String]) {
        StoredBytesTransformer.register()
        let model = try NSManagedObjectModel(storedAt: store)
        for entity in model.entities {
            entity.managedObjectClassName = "NSManagedObject"
            for case let attribute as NSAttributeDescription in entity.properties
            where attribute.attributeType == .transformableAttributeType {
                attribute.valueTransformerName = StoredBytesTransformer.name.rawValue
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store,
            options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
        defer { try? coordinator.remove(opened) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        var source = try Source(file, model)
        // A file without a UUID gets one.
        if source.uuid == "NULL" { source.uuid = opened.identifier }
        return try context.performAndWait {
            var differences: [String] = []
            var values = 0
            for entity in model.entities where !entity.isAbstract {
                try compare(entity, source, context, &values, &differences)
            }
            return (values, differences)
        }
    }

    private func table(_ entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return "Z" + (root.name ?? "").uppercased()
    }

    private func column(_ entity: NSEntityDescription, _ property: String) -> String {
        columns["\(entity.name ?? "").\(property)"] ?? "Z" + property.uppercased()
    }

    private func compare(
        _ entity: NSEntityDescription, _ source: Source, _ context: NSManagedObjectContext, _ values: inout Int,
        _ differences: inout [String]
    ) throws {
        let name = entity.name ?? ""
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.includesSubentities = false
        var objects: [String: NSManagedObject] = [:]
        for object in try context.fetch(request) {
            objects[object.objectID.uriRepresentation().absoluteString] = object
        }
        let properties = entity.properties.filter {
            !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
        }.sorted { $0.name < $1.name }
        let own = properties.filter { ($0 as? NSRelationshipDescription)?.isToMany != true }
        let list = (["Z_PK"] + own.map { column(entity, $0.name) }).joined(separator: ", ")
        let rows = try source.database.prepare(
            "SELECT \(list) FROM \(table(entity)) WHERE Z_ENT = \(source.numbers[name] ?? 0)")
        while try rows.step() {
            let key = rows.integer(0) ?? 0
            let uri = "x-coredata://\(source.uuid)/\(name)/p\(key)"
            guard let object = objects.removeValue(forKey: uri) else {
                differences.append("\(uri) is missing")
                continue
            }
            for property in properties {
                let value = object.value(forKey: property.name)
                let (wanted, found): (String, String)
                if let attribute = property as? NSAttributeDescription {
                    wanted = try text(rows, (own.firstIndex(of: property) ?? 0) + 1, attribute)
                    found = Self.text(value, attribute)
                } else if let relationship = property as? NSRelationshipDescription {
                    wanted = try targets(of: key, relationship, entity, source)
                    found = Self.text(value)
                } else {
                    continue
                }
                values += 1
                if found != wanted { differences.append("\(uri).\(property.name) is \(found), not \(wanted)") }
            }
        }
        differences += objects.keys.sorted().map { "\($0) is in the store only" }
    }

    // MARK: What SQLite shows

    private func text(_ row: SQLiteStatement, _ column: Int, _ attribute: NSAttributeDescription) throws -> String {
        if row.isNull(column) { return "null" }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return row.shown(column)
        case .booleanAttributeType: return row.shown(column) == "0" ? "0" : "1"
        case .floatAttributeType: return "\(Float((row.double(column) ?? .nan)))"
        case .doubleAttributeType: return "\((row.double(column) ?? .nan))"
        case .dateAttributeType: return "date \((row.double(column) ?? .nan))"
        // SQLite's text of a number has 15 digits.
        case .decimalAttributeType where row.type(column) == .integer: return row.shown(column)
        case .decimalAttributeType: return "\(NSDecimalNumber(string: "\((row.double(column) ?? .nan))"))"
        case .stringAttributeType, .URIAttributeType: return row.shown(column)
        case .UUIDAttributeType:
            let hex = (row.blob(column) ?? .init(start: nil, count: 0)).map { String(format: "%02X", $0) }.joined()
            let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
                hex.dropFirst(range.lowerBound).prefix(range.count)
            }
            return parts.joined(separator: "-")
        case .binaryDataAttributeType, .transformableAttributeType:
            return Self.text(try bytes(Data(row.blob(column) ?? .init(start: nil, count: 0)), attribute))
        default: return "of an unknown type"
        }
    }

    /// A large value may lie in a file of its own.
    private func bytes(_ stored: Data, _ attribute: NSAttributeDescription) throws -> Data {
        guard attribute.allowsExternalBinaryDataStorage, let mark = stored.first else { return stored }
        if mark == 1 { return stored.dropFirst() }
        let name = String(decoding: stored.dropFirst().dropLast(), as: UTF8.self)
        let folder = ".\(file.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA"
        return try Data(
            contentsOf: file.deletingLastPathComponent().appendingPathComponent(folder).appendingPathComponent(name))
    }

    /// The ends of URIs, in order where the relationship has one.
    private func targets(
        of key: Int64, _ relationship: NSRelationshipDescription, _ entity: NSEntityDescription, _ source: Source
    ) throws -> String {
        guard let destination = relationship.destinationEntity else { return "none" }
        let target = table(destination)
        let place = column(entity, relationship.name)
        let query: String
        if !relationship.isToMany {
            query =
                "SELECT t.Z_ENT, t.Z_PK FROM \(table(entity)) s JOIN \(target) t ON t.Z_PK = s.\(place) "
                + "WHERE s.Z_PK = \(key)"
        } else if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            let back = column(destination, inverse.name)
            let order = relationship.isOrdered ? "t.Z_FOK_\(back.dropFirst())" : "t.Z_PK"
            query = "SELECT t.Z_ENT, t.Z_PK FROM \(target) t WHERE t.\(back) = \(key) ORDER BY \(order)"
        } else {
            query = try links(of: key, relationship, target, source)
        }
        let rows = try source.database.prepare(query)
        var found: [String] = []
        while try rows.step() { found.append("\(source.names[rows.integer(0) ?? 0] ?? "")/p\(rows.shown(1))") }
        if !relationship.isToMany { return found.first ?? "null" }
        return "[\((relationship.isOrdered ? found : found.sorted()).joined(separator: " "))]"
    }

    private func links(
        of key: Int64, _ relationship: NSRelationshipDescription, _ target: String, _ source: Source
    ) throws -> String {
        let tables = try source.database.prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.name LIKE 'Z\\_%' ESCAPE '\\'"
        )
        var columns: [String: [String]] = [:]
        while try tables.step() { columns[tables.shown(0), default: []].append(tables.shown(1)) }
        let suffix = relationship.name.uppercased()
        for (table, names) in columns {
            func isKey(_ name: String) -> Bool {
                name == "REFLEXIVE" || name.hasPrefix("Z_") && !name.hasPrefix("Z_FOK_")
            }
            let keys = names.filter(isKey)
            guard keys.count == 2, let member = keys.first(where: { $0.drop { !$0.isLetter || $0 == "Z" } == suffix }),
                let owner = keys.first(where: { $0 != member })
            else { continue }
            if owner == "REFLEXIVE", !relationship.isOrdered {
                // Such a link is there for both of its ends, also where the file has one side of it only.
                return "SELECT t.Z_ENT, t.Z_PK FROM \(target) t WHERE t.Z_PK IN (SELECT \(member) FROM \(table) "
                    + "WHERE \(owner) = \(key) UNION SELECT \(owner) FROM \(table) WHERE \(member) = \(key))"
            }
            let order = relationship.isOrdered ? "j.Z_FOK_\(member.dropFirst(2))" : "t.Z_PK"
            return "SELECT t.Z_ENT, t.Z_PK FROM \(table) j JOIN \(target) t ON t.Z_PK = j.\(member) "
                + "WHERE j.\(owner) = \(key) ORDER BY \(order)"
        }
        return "SELECT 0, 0 WHERE 0"
    }

    // MARK: What the store shows

    /// Zero and one of other types also pass for booleans.
    private static func text(_ value: Any?, _ attribute: NSAttributeDescription) -> String {
        guard let number = value as? NSNumber else { return text(value) }
        switch attribute.attributeType {
        case .booleanAttributeType: return number.boolValue ? "1" : "0"
        case .floatAttributeType: return "\(number.floatValue)"
        case .doubleAttributeType: return "\(number.doubleValue)"
        default: return "\(number)"
        }
    }

    private static func text(_ value: Any?) -> String {
        func end(_ object: NSManagedObject) -> String {
            "\(object.entity.name ?? "")/\(object.objectID.uriRepresentation().lastPathComponent)"
        }
        switch value {
        case nil: return "null"
        case let object as NSManagedObject: return end(object)
        case let set as NSOrderedSet:
            return "[\(set.array.compactMap { ($0 as? NSManagedObject).map(end) }.joined(separator: " "))]"
        case let set as Set<NSManagedObject>: return "[\(set.map(end).sorted().joined(separator: " "))]"
        case let data as Data:
            let sum = data.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
            return "\(data.count) bytes, \(data.prefix(64).base64EncodedString()) \(sum)"
        case let date as Date: return "date \(date.timeIntervalSinceReferenceDate)"
        case let url as URL: return url.absoluteString
        case let id as UUID: return id.uuidString
        case let value?: return "\(value)"
        }
    }
}
