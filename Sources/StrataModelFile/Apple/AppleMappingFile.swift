import Foundation

/// A mapping model as Apple's compiler writes it (".cdm"): a keyed archive, walked as ``AppleModelFile`` is.
package struct AppleMappingFile {
    /// The mapping model.
    package private(set) var document = MappingDocument()

    /// Whether bytes can be a compiled mapping model of Apple's.
    package static func canRead(_ bytes: [UInt8]) -> Bool {
        guard BinaryPropertyList.isOne(bytes), let archive = try? KeyedArchive(bytes) else { return false }
        return (try? archive.root().className) == "NSMappingModel"
    }

    /// - Throws: ``ArchiveError`` for anything that is no mapping model's archive, for a damaged one, and for
    ///   expressions without a text, with the place.
    package init(_ bytes: [UInt8]) throws {
        let root = try KeyedArchive(bytes).root()
        guard root.className == "NSMappingModel" else {
            throw ArchiveError("the archive holds no mapping model but a \(root.className)")
        }
        for object in try root.objects("NSEntityMappings") {
            let name = try object.string("NSMappingName") ?? ""
            document.entityMappings.append(
                try AppleModelFile.naming("the entity mapping \(name)") { try Self.entityMapping(object, name) })
        }
    }

    private static func entityMapping(
        _ object: ArchivedObject, _ name: String
    ) throws -> MappingDocument.EntityMapping {
        var mapping = MappingDocument.EntityMapping(name: name)
        mapping.type = try object.integer("NSMappingType") ?? 0
        mapping.sourceName = try object.string("NSSourceEntityName")
        mapping.destinationName = try object.string("NSDestinationEntityName")
        if case .data(let hash) = try object.value("NSSourceEntityVersionHash") { mapping.sourceVersionHash = hash }
        if case .data(let hash) = try object.value("NSDestinationEntityVersionHash") {
            mapping.destinationVersionHash = hash
        }
        if let expression = try object.object("NSSourceExpression") {
            mapping.sourceExpression = try ArchivedExpression.format(expression)
        }
        mapping.policyClassName = try object.string("NSEntityMigrationPolicyClassName")
        mapping.attributeMappings = try propertyMappings(object, "NSAttributeMappings")
        mapping.relationshipMappings = try propertyMappings(object, "NSRelationshipMappings")
        mapping.userInfo = try ArchivedConstants.dictionary(object.entries("NSUserInfo"))
        return mapping
    }

    private static func propertyMappings(
        _ object: ArchivedObject, _ key: String
    ) throws -> [MappingDocument.PropertyMapping] {
        try object.objects(key).map { property in
            let name = try property.string("NSDestinationPropertyName") ?? ""
            return try AppleModelFile.naming("property \(name)") {
                var mapping = MappingDocument.PropertyMapping(name: name)
                if let expression = try property.object("NSValueExpression") {
                    mapping.expression = try ArchivedExpression.format(expression)
                }
                mapping.userInfo = try ArchivedConstants.dictionary(property.entries("NSUserInfo"))
                return mapping
            }
        }
    }

    /// The expression that an archive of its own holds, as Xcode keeps them in its files.
    package static func expression(_ bytes: [UInt8]) throws -> String {
        try ArchivedExpression.format(KeyedArchive(bytes).root())
    }
}
