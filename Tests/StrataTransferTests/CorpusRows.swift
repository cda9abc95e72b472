import CoreData
import Foundation

/// What is in a store, as texts that do not depend on IDs: by entity, one for each object, sorted.
struct CorpusRows {
    private let model: NSManagedObjectModel
    /// By the other model's names, this one's; nil for what the other one does not have.
    private let names: (NSEntityDescription) -> [(other: String, own: String)]
    private let entityName: (NSEntityDescription) -> String?

    /// - Parameter other: the model whose properties, as far as this one has them, are told, by its names.
    init(_ model: NSManagedObjectModel, by other: NSManagedObjectModel) {
        self.model = model
        func isSame(_ a: NSEntityDescription, _ b: NSEntityDescription) -> Bool {
            a.name == b.name || a.renamingIdentifier == b.name || b.renamingIdentifier == a.name
        }
        func isSame(_ a: NSPropertyDescription, _ b: NSPropertyDescription) -> Bool {
            a.name == b.name || a.renamingIdentifier == b.name || b.renamingIdentifier == a.name
        }
        let pairs = Dictionary(
            uniqueKeysWithValues: model.entities.map { entity in
                (
                    entity.name ?? "",
                    other.entities.first { $0.name == entity.name } ?? other.entities.first { isSame($0, entity) }
                )
            })
        entityName = { pairs[$0.name ?? ""]??.name }
        names = { entity in
            guard let match = pairs[entity.name ?? ""] ?? nil else { return [] }
            return match.properties.sorted { $0.name < $1.name }.compactMap { property in
                let own =
                    entity.propertiesByName[property.name] ?? entity.properties.first { isSame($0, property) }
                guard let own, !own.isTransient, !property.isTransient else { return nil }
                return (property.name, own.name)
            }
        }
    }

    func texts(_ context: NSManagedObjectContext) throws -> [String: [String]] {
        var all: [String: [String]] = [:]
        for entity in model.entities where !entity.isAbstract {
            guard let name = entityName(entity) else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            let rows = try context.fetch(request).map { object in
                names(entity).compactMap { other, own -> String? in
                    guard let relationship = entity.relationshipsByName[own] else {
                        return entity.attributesByName[own].map { _ in "\(other)=\(Self.text(object.value(forKey: own)))" }
                    }
                    return "\(other)=\(targets(object.value(forKey: own), relationship))"
                }.joined(separator: " ")
            }
            all[name] = rows.sorted()
        }
        return all
    }

    /// The attributes of what a relationship leads to.
    private func targets(_ value: Any?, _ relationship: NSRelationshipDescription) -> [String] {
        let objects: [NSManagedObject] =
            switch value {
            case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
            case let set as Set<NSManagedObject>: Array(set)
            case let object as NSManagedObject: [object]
            default: []
            }
        let texts = objects.map { object in
            names(object.entity).filter { object.entity.attributesByName[$0.own] != nil }
                .map { "\($0.other)=\(Self.text(object.value(forKey: $0.own)))" }.joined(separator: " ")
        }
        // What becomes ordered, or is no longer, has no order that both know.
        return texts.sorted()
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let number as NSNumber: number.stringValue
        case let value?: "\(value)"
        }
    }

    // MARK: Filling

    /// Makes some objects of each entity, with values everywhere, and saves them.
    static func fill(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, count: Int) throws {
        var made: [String: [NSManagedObject]] = [:]
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in entities where !entity.isAbstract {
            for index in 0..<count {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                for (name, attribute) in entity.attributesByName where !attribute.isTransient {
                    if let value = value(attribute, "\(entity.name ?? "").\(name)", index) {
                        object.setValue(value, forKey: name)
                    }
                }
                made[entity.name ?? "", default: []].append(object)
            }
        }
        for entity in entities where !entity.isAbstract {
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                // One end of two is enough.
                let inverse = relationship.inverseRelationship
                guard !relationship.isToMany || inverse?.isToMany ?? true, !relationship.isTransient else { continue }
                let kinds = entities.filter {
                    !$0.isAbstract && $0.isKindOf(entity: relationship.destinationEntity ?? entity)
                }
                let targets = kinds.flatMap { made[$0.name ?? ""] ?? [] }
                guard !targets.isEmpty else { continue }
                for (index, object) in (made[entity.name ?? ""] ?? []).enumerated() {
                    let first = targets[index % targets.count]
                    guard relationship.isToMany else {
                        object.setValue(first, forKey: name)
                        continue
                    }
                    let both = [first, targets[(index * 7 + 3) % targets.count]]
                    object.setValue(
                        relationship.isOrdered ? NSOrderedSet(array: both) : NSSet(array: both), forKey: name)
                }
            }
        }
        try context.save()
    }

    private static func value(_ attribute: NSAttributeDescription, _ place: String, _ index: Int) -> Any? {
        if attribute is NSDerivedAttributeDescription || index % 5 == 4 && attribute.isOptional { return nil }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return index
        case .doubleAttributeType, .floatAttributeType: return Double(index) / 4
        case .decimalAttributeType: return NSDecimalNumber(string: "\(index).25")
        case .stringAttributeType: return "\(place) \(index)"
        case .booleanAttributeType: return index % 2 == 0
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(index) * 1000.5)
        case .binaryDataAttributeType: return Data("\(place) \(index)".utf8)
        case .UUIDAttributeType: return UUID(uuidString: "00000000-0000-0000-0000-\(String(100_000_000_000 + index))")
        case .URIAttributeType: return URL(string: "https://example.com/\(index)")
        default: return nil
        }
    }
}
