import StrataModelFile

/// The code of one entity, as Xcode would generate it, with accessors in the place of `@NSManaged`.
struct EntityCode {
    let entity: ModelDocument.Entity
    let className: String
    let generator: ClassGenerator

    private var access: String { generator.options.accessPrefix }

    /// The class itself.
    func writeClass(into source: inout SourceText) {
        source.block("\(access)class \(SourceText.identifier(className)): \(generator.superclassName(of: entity))") {
            $0.block("\(access)override class var propertyNames: [AnyKeyPath: String]") { source in
                let names = generator.accessibleProperties(of: entity)
                source.line("\(names.isEmpty ? "let" : "var") names: [AnyKeyPath: String] = [:]")
                for name in names {
                    let path = "\\\(SourceText.identifier(className)).\(SourceText.identifier(name))"
                    source.line("names[\(path)] = \(SourceText.literal(name))")
                }
                source.line("return names")
            }
        }
    }

    /// The extensions with the properties, `fetchRequest()`, and what changes to-many relationships.
    func writeProperties(into source: inout SourceText) {
        let properties = generator.ownProperties(of: entity).map { PropertyCode($0, in: self) }
        source.block("extension \(className)") { source in
            source.block("\(access)class func fetchRequest() -> NSFetchRequest<\(className)>") {
                $0.line("NSFetchRequest<\(className)>(entityName: \(SourceText.literal(entity.name)))")
            }
            let slots = properties.compactMap(\.slotDeclaration)
            if !slots.isEmpty {
                source.line()
                source.block("private enum \(Self.slotsName)") { source in
                    slots.forEach { source.line($0) }
                }
            }
            for property in properties {
                source.line()
                property.write(into: &source)
            }
        }
        for property in properties where property.isToMany {
            source.line()
            source.line("// MARK: Generated accessors for \(property.name)")
            source.block("extension \(className)") { property.writeMembers(into: &$0) }
        }
        if generator.needsIdentifiable(entity) {
            source.line()
            source.line("extension \(className): Identifiable {}")
        }
    }

    /// The names of slots are kept apart from those of the entity's properties.
    static let slotsName = "_Slots"
}
