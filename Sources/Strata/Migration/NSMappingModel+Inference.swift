import Foundation

extension NSMappingModel {
    /// The mapping between two models that names and renaming identifiers say.
    ///
    /// - Throws: `CocoaError` 134190 when values would have to be changed: an attribute of another type, a to-many
    ///   relationship that is to-one now. The error says which.
    public class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let match = ModelMatch(sourceModel, destinationModel)
        let obstacles = match.obstacles
        guard obstacles.isEmpty else {
            throw DescribedError(
                .inferredMappingModel,
                userInfo: [
                    NSLocalizedDescriptionKey: "No mapping can be inferred: \(obstacles.joined(separator: "; "))."
                ])
        }
        let model = NSMappingModel()
        for entity in destinationModel.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            model.entityMappings.append(mapping(to: entity, match))
        }
        for entity in sourceModel.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") })
        where match.destination(of: entity) == nil {
            let mapping = NSEntityMapping()
            mapping.mappingType = .removeEntityMappingType
            mapping.name = "IEM_Remove_\(entity.name ?? "")"
            mapping.sourceEntityName = entity.name
            mapping.sourceEntityVersionHash = entity.versionHash
            model.entityMappings.append(mapping)
        }
        return model
    }

    private static func mapping(to entity: NSEntityDescription, _ match: ModelMatch) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        let name = entity.name ?? ""
        mapping.destinationEntityName = name
        mapping.destinationEntityVersionHash = entity.versionHash
        guard let source = match.source(of: entity) else {
            mapping.mappingType = .addEntityMappingType
            mapping.name = "IEM_Add_\(name)"
            return mapping
        }
        let isSame = source.versionHash == entity.versionHash && source.name == entity.name
        mapping.mappingType = isSame ? .copyEntityMappingType : .transformEntityMappingType
        mapping.name = isSame ? "IEM_Copy_\(name)" : "IEM_Transform_\(name)"
        mapping.sourceEntityName = source.name
        mapping.sourceEntityVersionHash = source.versionHash
        mapping.attributeMappings = attributeMappings(entity, match)
        mapping.relationshipMappings = relationshipMappings(entity, match)
        mapping.userInfo = propertyNames(entity, source, match)
        return mapping
    }

    /// What observers of inferred mappings look for: the names of the properties that are copied, new and gone.
    private static func propertyNames(
        _ entity: NSEntityDescription, _ source: NSEntityDescription, _ match: ModelMatch
    ) -> [AnyHashable: Any] {
        let (attributes, relationships) = (match.attributes(of: entity), match.relationships(of: entity))
        let mapped = Set(attributes.keys).union(relationships.keys)
        let kept = Set(attributes.values.map(\.name)).union(relationships.values.map(\.name))
        func names(_ entity: NSEntityDescription) -> Set<String> {
            Set(entity.attributesByName.keys).union(entity.relationshipsByName.keys)
        }
        return [
            "mappedProperties": mapped, "addedProperties": names(entity).subtracting(mapped),
            "removedProperties": names(source).subtracting(kept),
        ]
    }

    private static func attributeMappings(
        _ entity: NSEntityDescription, _ match: ModelMatch
    ) -> [NSPropertyMapping] {
        let pairs = match.attributes(of: entity)
        return entity.attributesByName.sorted { $0.key < $1.key }.flatMap { name, attribute -> [NSPropertyMapping] in
            guard let source = pairs[name], !attribute.isTransient, !source.isTransient,
                !(attribute is NSDerivedAttributeDescription)
            else { return [] }
            return copies(name, attribute, source.name, source)
        }
    }

    /// A composite is copied element by element: they may have other names.
    private static func copies(
        _ name: String, _ attribute: NSAttributeDescription, _ sourceName: String, _ source: NSAttributeDescription
    ) -> [NSPropertyMapping] {
        guard let composite = attribute as? NSCompositeAttributeDescription,
            let other = source as? NSCompositeAttributeDescription
        else {
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = value(sourceName, source, for: attribute)
            return [mapping]
        }
        let pairs = ModelMatch.elements(other, composite)
        return composite.elements.sorted { $0.name < $1.name }.flatMap { element in
            pairs[element.name].map {
                copies("\(name).\(element.name)", element, "\(sourceName).\($0.name)", $0)
            } ?? []
        }
    }

    /// The source's value; where there is none and there has to be one now, the default value.
    private static func value(
        _ path: String, _ source: NSAttributeDescription, for attribute: NSAttributeDescription
    ) -> NSExpression {
        let value = sourceValue(path)
        guard source.isOptional, !attribute.isOptional, let replacement = attribute.defaultValue else { return value }
        let isMissing = NSComparisonPredicate(
            leftExpression: value, rightExpression: NSExpression(forConstantValue: nil), modifier: .direct,
            type: .equalTo)
        return NSExpression(
            forConditional: isMissing, trueExpression: NSExpression(forConstantValue: replacement),
            falseExpression: value)
    }

    private static func sourceValue(_ path: String) -> NSExpression {
        NSExpression(
            form: .keyPath(
                operand: NSExpression(forVariable: NSMigrationSourceObjectKey), path: KeyPathComponents(path)))
    }

    private static func relationshipMappings(
        _ entity: NSEntityDescription, _ match: ModelMatch
    ) -> [NSPropertyMapping] {
        let pairs = match.relationships(of: entity)
        return entity.relationshipsByName.sorted { $0.key < $1.key }.compactMap { name, relationship in
            guard let source = pairs[name], !relationship.isTransient, !isSetFromInverse(relationship, match) else {
                return nil
            }
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = NSExpression(
                forFunction: NSExpression(forVariable: NSMigrationManagerKey),
                selectorName: MigrationFunctions.relationship,
                arguments: [NSExpression(forConstantValue: source.name), sourceValue(source.name)])
            return mapping
        }
    }

    /// Whether the other end, which is to-one, says the same with less work.
    private static func isSetFromInverse(_ relationship: NSRelationshipDescription, _ match: ModelMatch) -> Bool {
        guard relationship.isToMany, !relationship.isOrdered, let inverse = relationship.inverseRelationship,
            !inverse.isToMany, let target = relationship.destinationEntity
        else { return false }
        return match.relationships(of: target)[inverse.name] != nil
    }
}
