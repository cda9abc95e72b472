import Foundation

/// A mapping model as a value: what compiled files hold, and what tools that read other encodings make.
struct MappingDescription: Codable, Equatable {
    struct Property: Codable, Equatable {
        var name: String?
        /// The expression's text.
        var value: String?
        var userInfo: [String: String]?
    }

    struct Entity: Codable, Equatable {
        var name: String
        var type: UInt
        var source: String?
        var sourceHash: Data?
        var destination: String?
        var destinationHash: Data?
        var attributes: [Property]?
        var relationships: [Property]?
        var sourceExpression: String?
        var policy: String?
        var userInfo: [String: String]?
    }

    /// The version of this encoding.
    var strataMappingModel = 1
    var entities: [Entity]

    /// - Throws: ``ModelError`` with `notEncodable`.
    init(_ model: NSMappingModel) throws {
        func text(_ info: [AnyHashable: Any]?) -> [String: String]? {
            info.map { info in
                Dictionary(info.map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
            }
        }
        func properties(_ mappings: [NSPropertyMapping]?) throws -> [Property]? {
            try mappings?.map {
                Property(
                    name: $0.name, value: try $0.valueExpression.map { try ModelFormats.format(of: $0) },
                    userInfo: text($0.userInfo))
            }
        }
        entities = try model.entityMappings.map { mapping in
            Entity(
                name: mapping.name, type: mapping.mappingType.rawValue, source: mapping.sourceEntityName,
                sourceHash: mapping.sourceEntityVersionHash, destination: mapping.destinationEntityName,
                destinationHash: mapping.destinationEntityVersionHash,
                attributes: try properties(mapping.attributeMappings),
                relationships: try properties(mapping.relationshipMappings),
                sourceExpression: try mapping.sourceExpression.map { try ModelFormats.format(of: $0) },
                policy: mapping.entityMigrationPolicyClassName, userInfo: text(mapping.userInfo))
        }
    }
}

extension NSMappingModel {
    /// - Throws: ``ModelError`` with `damaged` for text that is no expression.
    convenience init(_ description: MappingDescription) throws {
        self.init()
        func properties(_ mappings: [MappingDescription.Property]?) throws -> [NSPropertyMapping]? {
            try mappings?.map { property in
                let mapping = NSPropertyMapping()
                mapping.name = property.name
                mapping.valueExpression = try property.value.map { try ModelFormats.expression($0) }
                mapping.userInfo = property.userInfo
                return mapping
            }
        }
        entityMappings = try description.entities.map { entity in
            let mapping = NSEntityMapping()
            mapping.name = entity.name
            mapping.mappingType = NSEntityMappingType(rawValue: entity.type) ?? .undefinedEntityMappingType
            mapping.sourceEntityName = entity.source
            mapping.sourceEntityVersionHash = entity.sourceHash
            mapping.destinationEntityName = entity.destination
            mapping.destinationEntityVersionHash = entity.destinationHash
            mapping.attributeMappings = try properties(entity.attributes)
            mapping.relationshipMappings = try properties(entity.relationships)
            mapping.sourceExpression = try entity.sourceExpression.map { try ModelFormats.expression($0) }
            mapping.entityMigrationPolicyClassName = entity.policy
            mapping.userInfo = entity.userInfo
            return mapping
        }
    }
}
