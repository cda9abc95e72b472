import CoreData
import Foundation

/// What two versions of a model both know of a store, as texts that do not depend on IDs: by entity, one for each
/// object, sorted. Entities and properties are named as in the later version.
struct CorpusRows {
    enum Side { case before, after }

    private struct Kind {
        let label: String
        /// The names in the later version, and in the store's.
        let properties: [(label: String, name: String)]
    }

    private let model: NSManagedObjectModel
    private var kinds: [String: Kind] = [:]

    /// - Parameter side: which of the versions the store has.
    init(_ before: NSManagedObjectModel, _ after: NSManagedObjectModel, _ side: Side) {
        model = side == .before ? before : after
        let entities = Self.pairs(before.entities, after.entities, name: { $0.name ?? "" }) {
            $0.renamingIdentifier ?? ""
        }
        for (old, new) in entities {
            let pairs = Self.pairs(old.properties, new.properties, name: { $0.name }) {
                $0.renamingIdentifier ?? $0.name
            }
            let known = pairs.filter { !$0.before.isTransient && !$0.after.isTransient }
                .map { (label: $0.after.name, name: side == .before ? $0.before.name : $0.after.name) }
            kinds[(side == .before ? old : new).name ?? ""] = Kind(
                label: new.name ?? "", properties: known.sorted { $0.label < $1.label })
        }
    }

    /// What belongs together: by renaming identifier, then by name.
    private static func pairs<Element>(
        _ before: [Element], _ after: [Element], name: (Element) -> String, identifier: (Element) -> String
    ) -> [(before: Element, after: Element)] {
        after.compactMap { new in
            let old =
                before.first { name($0) == identifier(new) } ?? before.first { identifier($0) == identifier(new) }
                ?? before.first { name($0) == name(new) }
            return old.map { ($0, new) }
        }
    }

    func texts(_ context: NSManagedObjectContext) throws -> [String: [String]] {
        var all: [String: [String]] = [:]
        for entity in model.entities where !entity.isAbstract {
            guard let kind = kinds[entity.name ?? ""] else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            all[kind.label] = try context.fetch(request).map { object in
                kind.properties.compactMap { property -> String? in
                    let value = object.value(forKey: property.name)
                    if entity.relationshipsByName[property.name] != nil {
                        return "\(property.label)=\(targets(value))"
                    }
                    return entity.attributesByName[property.name].map { _ in "\(property.label)=\(Self.text(value))" }
                }.joined(separator: "\n")
            }.sorted()
        }
        return all
    }

    /// The attributes of what a relationship leads to.
    private func targets(_ value: Any?) -> [String] {
        let objects: [NSManagedObject] =
            switch value {
            case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
            case let set as Set<NSManagedObject>: Array(set)
            case let object as NSManagedObject: [object]
            default: []
            }
        let texts = objects.map { object in
            (kinds[object.entity.name ?? ""]?.properties ?? [])
                .filter { object.entity.attributesByName[$0.name] != nil }
                .map { "\($0.label)=\(Self.text(object.value(forKey: $0.name)))" }.joined(separator: " ")
        }
        // What becomes ordered, or is no longer, has no order that both know.
        return texts.sorted()
    }

    /// The values of one attribute, without those of subentities, sorted.
    static func values(of key: String, _ entity: String, in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = false
        return try context.fetch(request).map { text($0.value(forKey: key)) }.sorted()
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
