import Foundation
import StrataModelFile

extension NSMappingModel {
    /// Makes a mapping model of what a file describes.
    ///
    /// - Parameter document: the description, from `XcodeMappingModel` or a file in another form. Version hashes that
    ///   it lacks are those of its models, if it has them; otherwise a mapping is for any version of its entities.
    /// - Throws: `ModelError` with `damaged` for a text that is no expression, which names mapping and property, and
    ///   `invalidModel` for its models.
    /// - Complexity: O(n) in the size of the document.
    public convenience init(document: MappingDocument) throws {
        let source = try document.sourceModel.map { try NSManagedObjectModel(document: $0) }
        let destination = try document.destinationModel.map { try NSManagedObjectModel(document: $0) }
        self.init()
        entityMappings = try document.entityMappings.map { entity in
            let mapping = NSEntityMapping()
            mapping.name = entity.name
            mapping.mappingType =
                UInt(exactly: entity.type).flatMap { NSEntityMappingType(rawValue: $0) } ?? .undefinedEntityMappingType
            mapping.sourceEntityName = entity.sourceName
            mapping.sourceEntityVersionHash =
                entity.sourceVersionHash ?? Self.hash(of: entity.sourceName, in: source)
            mapping.destinationEntityName = entity.destinationName
            mapping.destinationEntityVersionHash =
                entity.destinationVersionHash ?? Self.hash(of: entity.destinationName, in: destination)
            mapping.attributeMappings = try Self.properties(entity.attributeMappings, of: entity.name)
            mapping.relationshipMappings = try Self.properties(entity.relationshipMappings, of: entity.name)
            mapping.sourceExpression = try entity.sourceExpression.map { text in
                try Self.naming(entity.name) { try ModelFormats.expression(text) }
            }
            mapping.entityMigrationPolicyClassName = entity.policyClassName
            mapping.userInfo = entity.userInfo.isEmpty ? nil : DocumentValues.userInfo(entity.userInfo)
            return mapping
        }
    }

    private static func hash(of name: String?, in model: NSManagedObjectModel?) -> Data? {
        name.flatMap { model?.entitiesByName[$0]?.versionHash }
    }

    private static func properties(
        _ mappings: [MappingDocument.PropertyMapping], of entity: String
    ) throws -> [NSPropertyMapping] {
        try mappings.map { property in
            let mapping = NSPropertyMapping()
            mapping.name = property.name
            mapping.valueExpression = try property.expression.map { text in
                try naming("\(entity).\(property.name)") { try ModelFormats.expression(text) }
            }
            mapping.userInfo = property.userInfo.isEmpty ? nil : DocumentValues.userInfo(property.userInfo)
            return mapping
        }
    }

    /// Says which mapping an error is about.
    private static func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as ModelError {
            throw ModelError(error.code, "the mapping \(path): \(error.message)")
        }
    }

    /// What a file would say about the mapping model.
    ///
    /// - Throws: `ModelError` with `notEncodable`, which names mapping and property, for an expression whose text does
    ///   not say what it does, and for user info that is no property list.
    /// - Complexity: O(n) in the size of the mapping model.
    public func document() throws -> MappingDocument {
        var document = MappingDocument()
        document.entityMappings = try entityMappings.map { mapping in
            let name = mapping.name ?? ""
            var entity = MappingDocument.EntityMapping(name: name)
            entity.type = Int(mapping.mappingType.rawValue)
            entity.sourceName = mapping.sourceEntityName
            entity.sourceVersionHash = mapping.sourceEntityVersionHash
            entity.destinationName = mapping.destinationEntityName
            entity.destinationVersionHash = mapping.destinationEntityVersionHash
            entity.sourceExpression = try mapping.sourceExpression.map { expression in
                try Self.naming(name) { try ModelFormats.format(of: expression) }
            }
            entity.policyClassName = mapping.entityMigrationPolicyClassName
            entity.attributeMappings = try Self.documents(mapping.attributeMappings, of: name)
            entity.relationshipMappings = try Self.documents(mapping.relationshipMappings, of: name)
            entity.userInfo = try Self.document(mapping.userInfo, of: name)
            return entity
        }
        return document
    }

    private static func documents(
        _ mappings: [NSPropertyMapping]?, of entity: String
    ) throws -> [MappingDocument.PropertyMapping] {
        try (mappings ?? []).map { mapping in
            let path = "\(entity).\(mapping.name ?? "")"
            var property = MappingDocument.PropertyMapping(name: mapping.name ?? "")
            property.expression = try mapping.valueExpression.map { expression in
                try naming(path) { try ModelFormats.format(of: expression) }
            }
            property.userInfo = try document(mapping.userInfo, of: path)
            return property
        }
    }

    private static func document(
        _ userInfo: [AnyHashable: Any]?, of path: String
    ) throws -> [String: ModelDocument.Value] {
        var values: [String: ModelDocument.Value] = [:]
        for (key, value) in userInfo ?? [:] {
            // A property list has no sets: the names that an inferred mapping has become a list.
            let plain: Any = (value as? Set<String>).map { $0.sorted() } ?? value
            guard let key = key.base as? String, let value = DocumentValues.document(plain) else {
                throw ModelError(.notEncodable, "the mapping \(path): its user info is no property list")
            }
            values[key] = value
        }
        return values
    }
}
