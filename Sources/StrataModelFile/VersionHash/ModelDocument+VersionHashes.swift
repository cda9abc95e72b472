import Foundation

extension ModelDocument {
    /// The version hashes of all entities, as the library computes them of the model that this document describes.
    ///
    /// They let the library choose among the versions of a compiled model without reading any of them.
    ///
    /// - Returns: by entity; nil where only the library can tell: a derived attribute's expression counts in the form
    ///   in which it is printed.
    /// - Complexity: O(n) in the size of the document.
    package func versionHashes() -> [String: Data]? {
        VersionHasher(self)?.hashes()
    }
}

/// Computes version hashes of a document. What it adds to the input, and in which order, must never change: stores
/// keep the results.
private struct VersionHasher {
    private let entities: [String: ModelDocument.Entity]
    private let composites: [String: ModelDocument.Composite]
    private var known: [String: Data] = [:]

    /// - Returns: nil for a document in which two entities or composites have one name.
    init?(_ document: ModelDocument) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        composites = Dictionary(document.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard entities.count == document.entities.count, composites.count == document.composites.count else {
            return nil
        }
    }

    consuming func hashes() -> [String: Data]? {
        for name in entities.keys where hash(of: name, depth: 0) == nil { return nil }
        return known
    }

    private mutating func hash(of name: String, depth: Int) -> Data? {
        if let hash = known[name] { return hash }
        // As deep as entities can inherit from each other; a document that leads in a circle ends here.
        guard let entity = entities[name], depth <= entities.count else { return nil }
        var input = VersionHashInput()
        input.add(byte: 0)
        input.add(optional: entity.name)
        input.add(entity.isAbstract)
        input.add(optional: entity.versionHashModifier)
        if let parent = entity.parentName {
            guard let inherited = hash(of: parent, depth: depth + 1) else { return nil }
            input.add(bytes: Array(inherited))
        } else {
            input.add(bytes: [])
        }
        guard let properties = propertyHashes(of: entity) else { return nil }
        input.add(UInt(properties.count))
        for property in properties { input.add(bytes: Array(property)) }
        for names in Set(entity.uniquenessConstraints.map { Set($0).sorted() })
            .sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
            input.add(UInt(names.count))
            for name in names { input.add(name) }
        }
        let hash = input.digest()
        known[name] = hash
        return hash
    }

    /// By the properties' names.
    private func propertyHashes(of entity: ModelDocument.Entity) -> [Data]? {
        var found: [(name: String, hash: Data)] = []
        for attribute in entity.attributes {
            var input = VersionHashInput()
            guard add(attribute, to: &input, depth: 0) else { return nil }
            found.append((attribute.name, input.digest()))
        }
        for relationship in entity.relationships {
            var input = VersionHashInput()
            add(relationship, to: &input)
            found.append((relationship.name, input.digest()))
        }
        for property in entity.fetchedProperties {
            var input = VersionHashInput()
            input.add(byte: 3)
            add(property.property, to: &input)
            found.append((property.name, input.digest()))
        }
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map(\.hash)
    }

    private func add(_ property: ModelDocument.Property, to input: inout VersionHashInput) {
        input.add(property.name)
        input.add(property.isOptional)
        input.add(property.isTransient)
        input.add(optional: property.versionHashModifier)
    }

    private func add(
        _ attribute: ModelDocument.Attribute, to input: inout VersionHashInput, depth: Int
    ) -> Bool {
        input.add(byte: 1)
        add(attribute.property, to: &input)
        input.add(attribute.type.number)
        if attribute.type == .composite {
            // Composites that lie in each other in a circle are no model.
            guard depth <= composites.count, let composite = attribute.compositeName.flatMap({ composites[$0] }) else {
                return false
            }
            input.add(UInt(composite.attributes.count))
            let elements = composite.attributes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return elements.allSatisfy { add($0, to: &input, depth: depth + 1) }
        }
        return !attribute.isDerived
    }

    private func add(_ relationship: ModelDocument.Relationship, to input: inout VersionHashInput) {
        input.add(byte: 2)
        add(relationship.property, to: &input)
        input.add(optional: relationship.destinationName.isEmpty ? nil : relationship.destinationName)
        input.add(optional: relationship.inverseName)
        input.add(UInt(bitPattern: relationship.minCount))
        input.add(UInt(bitPattern: relationship.maxCount))
        input.add(relationship.deleteRule.number)
        input.add(relationship.isOrdered)
    }
}

extension ModelDocument.AttributeType {
    /// The raw value of `NSAttributeType`.
    fileprivate var number: UInt {
        switch self {
        case .undefined: 0
        case .integer16: 100
        case .integer32: 200
        case .integer64: 300
        case .decimal: 400
        case .double: 500
        case .float: 600
        case .string: 700
        case .boolean: 800
        case .date: 900
        case .binary: 1000
        case .uuid: 1100
        case .uri: 1200
        case .transformable: 1800
        case .objectID: 2000
        case .composite: 2100
        }
    }
}

extension ModelDocument.DeleteRule {
    /// The raw value of `NSDeleteRule`.
    fileprivate var number: UInt {
        switch self {
        case .noAction: 0
        case .nullify: 1
        case .cascade: 2
        case .deny: 3
        }
    }
}
