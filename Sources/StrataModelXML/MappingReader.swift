import Foundation
import StrataModelFile

/// Makes a document of the objects of a mapping model's file.
struct MappingReader {
    let list: DiagnosticList
    let models: [URL]

    /// The names that Xcode gives to `NSEntityMappingType`, by its raw values.
    private static let types = ["Undefined", "Custom", "Add", "Remove", "Copy", "Transform"]

    func read(_ root: ModelElement) throws -> MappingDocument {
        guard root.name == "database" else {
            list.add(ModelDiagnostic(.error, "the root is <\(root.name)> and not <database>"), line: root.line)
            return MappingDocument()
        }
        let objects = root.children.filter { $0.name == "object" }.map { MappingObject($0, list: list) }
        let known = ["MODEL", "ENTITYMAPPING", "ATTRIBUTEMAPPING", "RELATIONSHIPMAPPING"].map { "XDDEV" + $0 }
        let mappingModels = objects.filter { $0.type == "XDDEVMAPPINGMODEL" }
        for object in objects where !known.contains(object.type) && object.type != "XDDEVMAPPINGMODEL" {
            object.report(.warning, mapping: nil, "an object of the type \(object.type) is not known and ignored")
        }
        guard mappingModels.count == 1 else {
            list.add(
                ModelDiagnostic(.error, "there are \(mappingModels.count) mapping models in the file, not one"),
                line: root.line)
            return MappingDocument()
        }
        return try read(
            mappingModels[0], Dictionary(objects.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    private func read(_ model: MappingObject, _ objects: [String: MappingObject]) throws -> MappingDocument {
        model.reportUnknown(
            besides: ["sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata"],
            mapping: nil)
        var document = MappingDocument()
        document.sourceModel = try version(model, "source")
        document.destinationModel = try version(model, "destination")
        guard let source = document.sourceModel, let destination = document.destinationModel else { return document }
        // Sorting keeps the order of mappings with equal numbers.
        let mappings = model.references("entitymappings").compactMap { objects[$0] }
            .filter { $0.type == "XDDEVENTITYMAPPING" }
            .sorted { ($0.number("mappingnumber") ?? 0) < ($1.number("mappingnumber") ?? 0) }
        let defaults = MappingDefaults(
            source: EntityGraph(source), destination: EntityGraph(destination),
            mappings: mappings.map { ($0.text("sourcename"), Self.name($0)) })
        var names: Set<String> = []
        for object in mappings {
            let mapping = entityMapping(object, objects, defaults)
            if !names.insert(mapping.name).inserted {
                object.report(.error, mapping: mapping.name, "there are two mappings of this name")
            }
            document.entityMappings.append(mapping)
        }
        return document
    }

    // MARK: The models

    /// The version of the model at one end: the file, or else the copy that the mapping model has.
    private func version(_ model: MappingObject, _ end: String) throws -> ModelDocument? {
        let path = model.text("\(end)modelpath") ?? ""
        if let url = Self.location(of: path, among: models) {
            return try XcodeModel.model(contentsOf: url).current?.document
        }
        guard let data = model.data("\(end)modeldata", mapping: nil) else {
            model.report(.error, mapping: nil, "the \(end) model '\(path)' is neither in the target nor in the file")
            return nil
        }
        do {
            return try XcodeModelSnapshot.document(Array(data))
        } catch {
            model.report(.error, mapping: nil, "the copy of the \(end) model '\(path)' cannot be read: \(error)")
            return nil
        }
    }

    /// Where a version lies that Xcode knows by a path in its project, such as "App/Shop.xcdatamodeld/Shop
    /// 2.xcdatamodel".
    private static func location(of path: String, among models: [URL]) -> URL? {
        let parts = path.split(separator: "/").map { String($0) }
        guard let version = parts.last, version.hasSuffix(".xcdatamodel") else { return nil }
        let container = parts.dropLast().last.flatMap { $0.hasSuffix(".xcdatamodeld") ? $0 : nil }
        guard let container else {
            return models.first { $0.lastPathComponent == version && !XcodeModel.isOlderThanXML($0) }
        }
        return models.filter { $0.lastPathComponent == container }
            .map { $0.appendingPathComponent(version, isDirectory: true) }
            .first { FileManager.default.fileExists(atPath: $0.path) && !XcodeModel.isOlderThanXML($0) }
    }

    // MARK: Mappings

    /// The name as Xcode makes it.
    private static func name(_ object: MappingObject) -> String {
        if let name = object.text("name") { return name }
        return [object.text("sourcename"), object.text("destinationname")].compactMap(\.self).joined(separator: "To")
    }

    private func entityMapping(
        _ object: MappingObject, _ objects: [String: MappingObject], _ defaults: MappingDefaults
    ) -> MappingDocument.EntityMapping {
        var mapping = MappingDocument.EntityMapping(name: Self.name(object))
        let name = mapping.name
        object.reportUnknown(
            besides: [
                "name", "sourcename", "destinationname", "mappingtypename", "mappingnumber", "migrationpolicyclassname",
                "autogenerateexpression", "sourceexpressiondata",
            ], mapping: name)
        mapping.sourceName = object.text("sourcename")
        mapping.destinationName = object.text("destinationname")
        mapping.policyClassName = object.text("migrationpolicyclassname")
        if let source = mapping.sourceName, defaults.source.entities[source] == nil {
            object.report(.error, mapping: name, "the source model has no entity '\(source)'")
        }
        if let destination = mapping.destinationName, defaults.destination.entities[destination] == nil {
            object.report(.error, mapping: name, "the destination model has no entity '\(destination)'")
        }
        mapping.type = type(object, mapping)
        mapping.sourceExpression = expression(object, "sourceexpressiondata", name, nil)
        if mapping.sourceExpression == nil, let source = mapping.sourceName, mapping.destinationName != nil {
            mapping.sourceExpression = MappingDefaults.sourceExpression(source)
        }
        func properties(_ key: String, _ type: String) -> [MappingDocument.PropertyMapping] {
            object.references(key).compactMap { objects[$0] }.filter { $0.type == type }
                .map { propertyMapping($0, of: mapping, defaults) }.sorted { $0.name < $1.name }
        }
        mapping.attributeMappings = properties("attributemappings", "XDDEVATTRIBUTEMAPPING")
        mapping.relationshipMappings = properties("relationshipmappings", "XDDEVRELATIONSHIPMAPPING")
        return mapping
    }

    /// What Xcode's compiler makes of "Undefined", which all files have.
    private func type(_ object: MappingObject, _ mapping: MappingDocument.EntityMapping) -> Int {
        if let text = object.text("mappingtypename") {
            guard let type = Self.types.firstIndex(of: text) else {
                object.report(.error, mapping: mapping.name, "the mapping type '\(text)' is not known")
                return 0
            }
            if type > 0 { return type }
        }
        if mapping.sourceName == nil { return 2 }
        if mapping.destinationName == nil { return 3 }
        if mapping.policyClassName != nil { return 1 }
        return mapping.sourceName == mapping.destinationName ? 4 : 5
    }

    private func propertyMapping(
        _ object: MappingObject, of entity: MappingDocument.EntityMapping, _ defaults: MappingDefaults
    ) -> MappingDocument.PropertyMapping {
        var mapping = MappingDocument.PropertyMapping(name: object.text("name") ?? "")
        let isRelationship = object.type == "XDDEVRELATIONSHIPMAPPING"
        object.reportUnknown(
            besides: ["name", "valueexpressiondata", "autogenerateexpression"], mapping: entity.name,
            property: mapping.name)
        if let destination = entity.destinationName, defaults.destination.entities[destination] != nil,
            !defaults.hasDestination(mapping.name, isRelationship: isRelationship, of: destination)
        {
            object.report(
                .error, mapping: entity.name, property: mapping.name,
                "\(destination) has no \(isRelationship ? "relationship" : "attribute") of this name")
        }
        mapping.expression = expression(object, "valueexpressiondata", entity.name, mapping.name)
        if mapping.expression == nil, object.flag("autogenerateexpression") != false, let source = entity.sourceName {
            mapping.expression =
                isRelationship
                ? defaults.relationship(mapping.name, of: source) : defaults.attribute(mapping.name, of: source)
        }
        return mapping
    }

    private func expression(
        _ object: MappingObject, _ key: String, _ mapping: String, _ property: String?
    ) -> String? {
        guard let data = object.data(key, mapping: mapping, property: property) else { return nil }
        do {
            return try AppleMappingFile.expression(Array(data))
        } catch {
            object.report(.error, mapping: mapping, property: property, "the expression cannot be read: \(error)")
            return nil
        }
    }
}
