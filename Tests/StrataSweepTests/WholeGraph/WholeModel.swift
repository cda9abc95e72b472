import CoreData
import Foundation

/// One model with everything: attributes of all types, every kind of relationship and delete rule, inheritance from an
/// abstract root, validation and a derived attribute.
enum WholeModel {
    struct Relation {
        var name: String
        var inverse: String
        var owner: String
        var destination: String
        var isToMany = false
        var isOrdered = false
        var rule = NSDeleteRule.nullifyDeleteRule
    }

    static let relations = [
        Relation(name: "next", inverse: "previous", owner: "Thing", destination: "Thing"),
        Relation(name: "previous", inverse: "next", owner: "Thing", destination: "Thing"),
        Relation(name: "team", inverse: "members", owner: "Person", destination: "Team"),
        Relation(name: "members", inverse: "team", owner: "Team", destination: "Person", isToMany: true),
        Relation(name: "home", inverse: "boards", owner: "Board", destination: "Team"),
        Relation(
            name: "boards", inverse: "home", owner: "Team", destination: "Board", isToMany: true, isOrdered: true,
            rule: .cascadeDeleteRule),
        Relation(name: "badge", inverse: "owner", owner: "Person", destination: "Badge", rule: .cascadeDeleteRule),
        Relation(name: "owner", inverse: "badge", owner: "Badge", destination: "Person"),
        Relation(name: "friends", inverse: "friends", owner: "Person", destination: "Person", isToMany: true),
        Relation(name: "watching", inverse: "watchers", owner: "Person", destination: "Board", isToMany: true),
        Relation(name: "watchers", inverse: "watching", owner: "Board", destination: "Person", isToMany: true),
        Relation(
            name: "queue", inverse: "queuedBy", owner: "Person", destination: "Board", isToMany: true, isOrdered: true),
        Relation(name: "queuedBy", inverse: "queue", owner: "Board", destination: "Person", isToMany: true),
        Relation(name: "post", inverse: "guards", owner: "Guard", destination: "Team"),
        Relation(
            name: "guards", inverse: "post", owner: "Team", destination: "Guard", isToMany: true,
            rule: .denyDeleteRule),
    ]
    static let byName = Dictionary(uniqueKeysWithValues: relations.map { ($0.name, $0) })

    /// An entity and those it inherits from.
    static let lineage: [String: [String]] = [
        "Person": ["Person", "Thing"], "Boss": ["Boss", "Person", "Thing"], "Team": ["Team", "Thing"],
        "Board": ["Board", "Thing"], "Badge": ["Badge", "Thing"], "Guard": ["Guard", "Thing"],
    ]

    static func relations(of entity: String) -> [Relation] {
        let lineage = lineage[entity] ?? []
        return relations.filter { lineage.contains($0.owner) }
    }

    static let personAttributes: [(String, NSAttributeType)] = [
        ("rank", .integer32AttributeType), ("name", .stringAttributeType), ("bool", .booleanAttributeType),
        ("int16", .integer16AttributeType), ("int64", .integer64AttributeType), ("float", .floatAttributeType),
        ("double", .doubleAttributeType), ("decimal", .decimalAttributeType), ("data", .binaryDataAttributeType),
        ("date", .dateAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
        ("list", .transformableAttributeType),
    ]

    static func attributes(of entity: String) -> [(String, NSAttributeType)] {
        switch entity {
        case "Person": personAttributes
        case "Boss": personAttributes + [("bonus", .doubleAttributeType)]
        case "Team", "Board": [("title", .stringAttributeType)]
        default: []
        }
    }

    static func make() -> NSManagedObjectModel {
        let names = ["Thing", "Person", "Boss", "Team", "Board", "Badge", "Guard"]
        let entities = Dictionary(uniqueKeysWithValues: names.map { ($0, GraphModel.entity($0)) })
        var properties: [String: [NSPropertyDescription]] = [
            "Thing": [GraphModel.attribute("key", .integer64AttributeType, default: 0)]
        ]
        for (name, type) in personAttributes {
            let isMandatory = name == "rank" || name == "name"
            let attribute = GraphModel.attribute(
                name, type, optional: !isMandatory, default: name == "rank" ? 0 : name == "name" ? "new" : nil)
            if name == "name" { attribute.setBounds(minimum: 1) }
            properties["Person", default: []].append(attribute)
        }
        properties["Boss"] = [GraphModel.attribute("bonus", .doubleAttributeType)]
        for entity in ["Team", "Board"] {
            properties[entity] = [GraphModel.attribute("title", .stringAttributeType)]
        }
        let count = NSDerivedAttributeDescription()
        count.name = "memberCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "members.@count")
        properties["Team", default: []].append(count)
        var made: [String: NSRelationshipDescription] = [:]
        for relation in relations {
            guard let destination = entities[relation.destination] else { continue }
            let description = GraphModel.relationship(
                relation.name, to: destination, toMany: relation.isToMany, rule: relation.rule,
                ordered: relation.isOrdered)
            made[relation.name] = description
            properties[relation.owner, default: []].append(description)
        }
        for relation in relations { made[relation.name]?.inverseRelationship = made[relation.inverse] }
        for (name, entity) in entities { entity.properties = properties[name] ?? [] }
        entities["Thing"]?.isAbstract = true
        entities["Thing"]?.subentities = names.filter { $0 != "Thing" && $0 != "Boss" }.compactMap { entities[$0] }
        entities["Person"]?.subentities = [entities["Boss"]].compactMap { $0 }
        let model = NSManagedObjectModel()
        model.entities = names.compactMap { entities[$0] }
        return model
    }

    /// The same text for equal values.
    static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let value as Date: "\(value.timeIntervalSinceReferenceDate)"
        case let value as Data: value.base64EncodedString()
        case let value as UUID: value.uuidString
        case let value as URL: value.absoluteString
        case let value as String: "'\(value)'"
        case let value as [String]: value.joined(separator: "|")
        case let value as NSArray: value.map { "\($0)" }.joined(separator: "|")
        case let value as NSNumber: value.stringValue
        case let value?: "\(value)"
        }
    }
}
