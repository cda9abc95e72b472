import CoreData
import Foundation

/// Converts values that a mapping's expressions leave as they were.
final class ChainPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        guard let object = made.first else { return }
        for (key, from) in mapping.userInfo as? [String: String] ?? [:] {
            let text = source.value(forKey: from).map { "\($0)" }
            let number = text.flatMap { Double($0) }.map { Int($0) }
            let type = object.entity.attributesByName[key]?.attributeType
            let kind = MigrationChain.Kind.allCases.first { $0.type == type }
            object.setValue(number.flatMap { kind?.value($0) }, forKey: key)
        }
    }
}

extension MigrationChain {
    /// A mapping from one version to any later one, composed of all steps between.
    ///
    /// - Parameter byPolicy: whether a policy converts values, instead of expressions.
    func mapping(from start: Int, to end: Int, byPolicy: Bool) -> NSMappingModel {
        let (source, target) = (versions[start], versions[end])
        var mappings: [NSEntityMapping] = []
        for entity in target.entities {
            // The objects of an origin lie in exactly one entity of the source, with the origin's tags or more.
            for origin in entity.origins {
                for old in source.entities {
                    for known in old.origins where known.entity == origin.entity && overlap(known, origin) {
                        mappings.append(mapping(old, known, entity, origin, byPolicy))
                    }
                }
            }
        }
        link(&mappings, source, target)
        let model = NSMappingModel()
        model.entityMappings = mappings
        return model
    }

    private func overlap(_ known: Origin, _ origin: Origin) -> Bool {
        origin.divisor % known.divisor == 0 && origin.remainder % known.divisor == known.remainder
    }

    private static func name(_ old: Entity, _ entity: Entity, _ origin: Origin) -> String {
        "\(old.number) to \(entity.number) of \(origin.entity) \(origin.divisor) \(origin.remainder)"
    }

    private func mapping(
        _ old: Entity, _ known: Origin, _ entity: Entity, _ origin: Origin, _ byPolicy: Bool
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = Self.name(old, entity, origin)
        mapping.mappingType = byPolicy ? .customEntityMappingType : .transformEntityMappingType
        mapping.sourceEntityName = old.name
        mapping.destinationEntityName = entity.name
        // Objects that merged are told apart by their tags, which are in the order of the first version's entities.
        let tags = objects.filter { $0.entity == origin.entity }.map(\.tag)
        let conditions = [
            "tag >= \(tags.first ?? 0) AND tag <= \(tags.last ?? -1)",
            "modulus:by:(tag, \(origin.divisor)) == \(origin.remainder)",
        ]
        let function = "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", %@, %@)"
        mapping.sourceExpression = NSExpression(
            format: "FETCH(\(function), $manager.sourceContext, NO)", old.name,
            conditions.joined(separator: " AND "))
        var properties = [Self.property("tag", "$source.tag")]
        var converted: [String: String] = [:]
        for attribute in entity.attributes {
            guard let first = origin.sources[attribute.number],
                let place = known.sources.first(where: { $0.value == first })?.key,
                let before = old.attributes.first(where: { $0.number == place })
            else { continue }
            if before.kind == attribute.kind {
                properties.append(Self.property(attribute.name, "$source.\(before.name)"))
            } else if byPolicy {
                converted[attribute.name] = before.name
            } else {
                properties.append(
                    Self.property(attribute.name, "CAST($source.\(before.name), \"\(attribute.kind.cast)\")"))
            }
        }
        mapping.attributeMappings = properties
        if byPolicy {
            mapping.entityMigrationPolicyClassName = "ChainPolicy"
            mapping.userInfo = converted
        }
        return mapping
    }

    private static func property(_ name: String, _ format: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: format)
        return mapping
    }

    private func link(_ mappings: inout [NSEntityMapping], _ source: Version, _ target: Version) {
        for mapping in mappings {
            guard let old = source.entities.first(where: { $0.name == mapping.sourceEntityName }),
                let entity = target.entities.first(where: { $0.name == mapping.destinationEntityName })
            else { continue }
            mapping.relationshipMappings = entity.links.compactMap { link in
                guard let before = old.links.first(where: { $0.number == link.number }),
                    let end = target.entity(link.target),
                    let made = mappings.first(where: { $0.destinationEntityName == end.name })
                else { return nil }
                let name = "destinationInstancesForEntityMappingNamed:sourceInstances:"
                return Self.property(
                    link.name, "FUNCTION($manager, \"\(name)\", \"\(made.name ?? "")\", $source.\(before.name))")
            }
        }
    }
}
