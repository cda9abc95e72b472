import CoreData

/// The model of the graph, built in code.
enum PackageGraphModel {
    /// One instance for all containers, as Core Data wants it: classes find their entity through the model.
    static let shared = make()

    /// The entities, in the order in which they are imported.
    static let entityNames = ["Section", "Maintainer", "Package", "Dependency"]

    private static func make() -> NSManagedObjectModel {
        let package = entity("Package", Package.self)
        let maintainer = entity("Maintainer", Maintainer.self)
        let section = entity("Section", Section.self)
        let dependency = entity("Dependency", Dependency.self)

        let maintained = relationships(
            from: package, "maintainer", to: maintainer, "packages", deleteRule: .nullifyDeleteRule)
        let filed = relationships(from: package, "section", to: section, "packages", deleteRule: .nullifyDeleteRule)
        let owned = relationships(
            from: dependency, "package", to: package, "dependencies", deleteRule: .cascadeDeleteRule)
        let aimed = relationships(from: dependency, "target", to: package, "dependents", deleteRule: .nullifyDeleteRule)

        package.properties =
            [
                attribute("name", .stringAttributeType, isOptional: false),
                attribute("isVirtual", .booleanAttributeType, isOptional: false),
                attribute("version", .stringAttributeType),
                attribute("architecture", .stringAttributeType),
                attribute("priority", .stringAttributeType),
                attribute("source", .stringAttributeType),
                attribute("homepage", .stringAttributeType),
                attribute("summary", .stringAttributeType),
                attribute("fileName", .stringAttributeType),
                attribute("installedSizeKiB", .integer64AttributeType, isOptional: false),
                attribute("downloadSizeBytes", .integer64AttributeType, isOptional: false),
                attribute("isEssential", .booleanAttributeType, isOptional: false),
            ] + [maintained.toOne, filed.toOne, owned.toMany, aimed.toMany]
        maintainer.properties = [
            attribute("name", .stringAttributeType, isOptional: false),
            attribute("email", .stringAttributeType),
            maintained.toMany,
        ]
        section.properties = [attribute("name", .stringAttributeType, isOptional: false), filed.toMany]
        dependency.properties =
            [
                attribute("kindValue", .integer16AttributeType, isOptional: false),
                attribute("group", .integer32AttributeType, isOptional: false),
                attribute("alternative", .integer16AttributeType, isOptional: false),
                attribute("relationValue", .integer16AttributeType, isOptional: false),
                attribute("version", .stringAttributeType),
                attribute("qualifier", .stringAttributeType),
                attribute("unresolvedName", .stringAttributeType),
            ] + [owned.toOne, aimed.toOne]

        let model = NSManagedObjectModel()
        model.entities = [package, maintainer, section, dependency]
        return model
    }

    private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = true
    ) -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    /// A to-one relationship and the to-many one that is its inverse.
    ///
    /// - Parameter deleteRule: What becomes of the many when the one is deleted.
    private static func relationships(
        from many: NSEntityDescription, _ toOneName: String, to one: NSEntityDescription, _ toManyName: String,
        deleteRule: NSDeleteRule
    ) -> (toOne: NSRelationshipDescription, toMany: NSRelationshipDescription) {
        let toOne = NSRelationshipDescription()
        toOne.name = toOneName
        toOne.destinationEntity = one
        toOne.minCount = 0
        toOne.maxCount = 1
        toOne.deleteRule = .nullifyDeleteRule
        let toMany = NSRelationshipDescription()
        toMany.name = toManyName
        toMany.destinationEntity = many
        toMany.minCount = 0
        toMany.maxCount = 0
        toMany.deleteRule = deleteRule
        toOne.inverseRelationship = toMany
        toMany.inverseRelationship = toOne
        return (toOne, toMany)
    }
}
