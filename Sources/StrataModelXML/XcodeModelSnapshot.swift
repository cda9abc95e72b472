import StrataModelFile

/// The copy of a model that Xcode keeps in mapping models: a keyed archive of its editor's own objects.
///
/// Entities, attributes and relationships are read with what decides about version hashes. Default values, limits,
/// indexes and requests are not: they do not matter for a mapping.
struct XcodeModelSnapshot {
    private var document = ModelDocument()

    /// - Throws: ``ArchiveError`` for what is no such archive, and for a damaged one, with the place.
    static func document(_ bytes: [UInt8]) throws -> ModelDocument {
        let root = try KeyedArchive(bytes).root()
        guard root.className == "XDPMModel" else {
            throw ArchiveError("the archive holds no model but a \(root.className)")
        }
        var reader = XcodeModelSnapshot()
        if let identifier = try root.string("_modelVersionIdentifier"), !identifier.isEmpty {
            reader.document.versionIdentifiers = [identifier]
        }
        let package = try root.object("_xd_rootPackage")
        for entry in try package?.entries("XDBucketForClassesstorage") ?? [] {
            guard case .object(let entity) = entry.value else { continue }
            reader.document.entities.append(try naming("entity \(entry.key)") { try Self.entity(entity, entry.key) })
        }
        reader.document.entities.sort { $0.name < $1.name }
        return reader.document
    }

    private static func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as ArchiveError {
            throw ArchiveError("\(path): \(error.description)")
        }
    }

    /// What the editor knows of an object: by the stereotypes' names, the values of their attributes.
    private struct Annotations {
        private var values: [String: ArchivedValue] = [:]

        init(_ object: ArchivedObject) throws {
            for stereotype in try object.entries("XDBucketForStereotypesstorage") {
                guard case .object(let holder) = stereotype.value else { continue }
                for attribute in try holder.entries("XDBucketForOwnedAttributesstorage") {
                    guard case .object(let property) = attribute.value else { continue }
                    values[attribute.key] = try property.value("_default")
                }
            }
        }

        func text(_ key: String) throws -> String? {
            guard let text = try values[key]?.text(), !text.isEmpty else { return nil }
            return text
        }

        func number(_ key: String) throws -> Int? {
            switch values[key] {
            case .integer(let value): return Int(value)
            case .bool(let value): return value ? 1 : 0
            case .object(let object) where object.className == "NSNumber": return try object.integer("NS.intval")
            default: return nil
            }
        }

        func flag(_ key: String) throws -> Bool { try number(key).map { $0 != 0 } ?? false }

        /// Lists of properties, each by its name or the property itself.
        func lists(_ key: String) throws -> [[String]] {
            guard case .object(let outer)? = values[key] else { return [] }
            return try outer.elements().map { list in
                guard case .object(let inner) = list else { return [] }
                return try inner.elements().compactMap { element in
                    if case .object(let property) = element, property.className.hasPrefix("XDPM") {
                        return try property.string("_name")
                    }
                    return try element.text()
                }
            }
        }

        func name(_ key: String) throws -> String? {
            guard case .object(let object)? = values[key] else { return nil }
            return try object.string("_name")
        }
    }

    private static func entity(_ object: ArchivedObject, _ name: String) throws -> ModelDocument.Entity {
        var entity = ModelDocument.Entity(name: name)
        let annotations = try Annotations(object)
        entity.isAbstract = try object.flag("_isAbstract") || annotations.flag("XD_PSK_isAbstract")
        entity.versionHashModifier = try annotations.text("XD_PSK_versionHashModifier")
        entity.renamingIdentifier = try annotations.text("XD_PSK_elementID")
        entity.className = try annotations.text("XD_PSK_entityClassName")
        entity.uniquenessConstraints = try annotations.lists("XDPMUniquenessConstraints").filter { !$0.isEmpty }
        entity.parentName = try object.objects("XDBucketForGeneralizationsstorage").first?
            .object("_general")?.string("_name")
        for entry in try object.entries("XDBucketForOwnedAttributesstorage").sorted(by: { $0.key < $1.key }) {
            guard case .object(let property) = entry.value else { continue }
            try naming("property \(entry.key)") { try add(property, entry.key, to: &entity) }
        }
        return entity
    }

    private static func add(
        _ object: ArchivedObject, _ name: String, to entity: inout ModelDocument.Entity
    ) throws {
        let annotations = try Annotations(object)
        var property = ModelDocument.Property(name: name)
        property.isOptional = try annotations.flag("XD_PPSK_isOptional")
        property.isTransient = try annotations.flag("XD_PPSK_isTransient")
        property.versionHashModifier = try annotations.text("XD_PPSK_versionHashModifier")
        property.renamingIdentifier = try annotations.text("XD_PPSK_elementID")
        switch object.className {
        case "XDPMAttribute":
            let number = try annotations.number("XD_PAttK_attributeType") ?? 0
            guard let type = ModelDocument.AttributeType(number: number) else {
                throw ArchiveError("the attribute type \(number) is unknown")
            }
            guard type != .composite else {
                throw ArchiveError("the copy does not say what a composite attribute is made of")
            }
            var attribute = ModelDocument.Attribute(name: name, type: type)
            attribute.property = property
            attribute.valueTransformerName = try annotations.text("XD_PAttK_valueTransformerName")
            entity.attributes.append(attribute)
        case "XDPMRelationship":
            var relationship = ModelDocument.Relationship(
                name: name, destinationName: try annotations.name("XD_PRK_destination") ?? "")
            relationship.property = property
            relationship.inverseName = try annotations.name("XD_PRK_inverseRelationship")
            relationship.inverseEntityName = relationship.inverseName == nil ? nil : relationship.destinationName
            relationship.minCount = try max(0, annotations.number("XD_PRK_minCount") ?? 0)
            relationship.maxCount = try max(0, annotations.number("XD_PRK_maxCount") ?? 0)
            relationship.isOrdered = try annotations.flag("XD_PRK_ordered")
            switch try annotations.number("XD_PRK_deleteRule") ?? 1 {
            case 0: relationship.deleteRule = .noAction
            case 2: relationship.deleteRule = .cascade
            case 3: relationship.deleteRule = .deny
            default: relationship.deleteRule = .nullify
            }
            entity.relationships.append(relationship)
        case "XDPMFetchedProperty":
            var fetched = ModelDocument.FetchedProperty(name: name)
            fetched.property = property
            entity.fetchedProperties.append(fetched)
        default: throw ArchiveError("a \(object.className) is not known")
        }
    }
}
