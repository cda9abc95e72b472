import Foundation

/// Makes one of a document's properties of an archived description.
struct ArchivedPropertyReader {
    private let object: ArchivedObject
    private let name: String
    private let path: String
    private let place: String
    private(set) var notes: [String] = []
    private(set) var composites: [String: ModelDocument.Composite] = [:]

    private static let knownKeys: Set<String> = [
        // What all properties have; "_P" repeats the flags.
        "_P", "NSEntity", "NSIsOptional", "NSIsTransient", "NSIsReadOnly", "NSIsIndexed", "NSIsOrdered",
        "NSIsIndexedBySpotlight", "NSIsStoredInExternalRecord", "NSPropertyName", "NSRenamingIdentifier", "NSUserInfo",
        "NSValidationPredicates", "NSValidationWarnings", "NSVersionHashModifier", "NSVersionHash",
        "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSFlagsKey", "NSValueTransformerName",
        "NSDerivationExpression", "NSFilteringPredicate", "NSElements", "NSCompositeElements", "NSCompositeName",
        "NSDeleteRule", "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship",
        "_NSInverseRelationshipName", "NSMaxCount", "NSMinCount", "NSFetchRequest", "_NSFetchRequestEntityName",
    ]

    /// The bit of "NSFlagsKey" of an attribute that stays in the history; others are not known.
    private static let preservedFlag = 16

    /// - Parameters:
    ///   - path: what errors call it.
    ///   - place: the entity and the names that lead to it.
    init(_ object: ArchivedObject, _ name: String, _ path: String, place: String) {
        self.place = place
        self.object = object
        self.name = name
        self.path = path
        notes = object.keys.filter { !Self.knownKeys.contains($0) }.map { "\(path): \($0) is not read" }
    }

    private func common() throws -> ModelDocument.Property {
        var property = ModelDocument.Property(name: name)
        property.isOptional = try object.flag("NSIsOptional")
        property.isTransient = try object.flag("NSIsTransient")
        property.isIndexed = try object.flag("NSIsIndexed")
        property.isIndexedBySpotlight = try object.flag("NSIsIndexedBySpotlight")
        property.isStoredInExternalRecord = try object.flag("NSIsStoredInExternalRecord")
        let renaming = try object.string("NSRenamingIdentifier")
        property.renamingIdentifier = renaming == name ? nil : renaming
        property.versionHashModifier = try object.string("NSVersionHashModifier")
        if case .data(let hash) = try object.value("NSVersionHash") { property.versionHash = hash }
        property.userInfo = try ArchivedConstants.dictionary(object.entries("NSUserInfo"))
        let warnings = try object.elements("NSValidationWarnings")
        for (index, predicate) in try object.objects("NSValidationPredicates").enumerated() {
            let warning = index < warnings.count ? try ArchivedConstants.value(warnings[index]) : nil
            property.validations.append(
                ModelDocument.Validation(
                    predicate: try ArchivedPredicate.format(predicate), warning: warning ?? .string("")))
        }
        return property
    }

    // MARK: Attributes

    mutating func attribute() throws -> ModelDocument.Attribute {
        let number = try object.integer("NSAttributeType") ?? 0
        guard let type = ModelDocument.AttributeType(number: number) else {
            throw ArchiveError("the attribute type \(number) is unknown")
        }
        var attribute = ModelDocument.Attribute(name: name, type: type)
        attribute.property = try common()
        attribute.valueTransformerName = try object.string("NSValueTransformerName")
        if type == .transformable || type == .undefined {
            attribute.valueClassName = try object.string("NSAttributeValueClassName")
        }
        try readDefaultValue(&attribute)
        let flags = try object.integer("NSFlagsKey") ?? 0
        attribute.preservesValueOnDeletion = flags & Self.preservedFlag != 0
        if flags & ~Self.preservedFlag != 0 { notes.append("\(path): the flags \(flags) are not read") }
        if object.className == "NSDerivedAttributeDescription" {
            attribute.isDerived = true
            if let expression = try object.object("NSDerivationExpression") {
                attribute.derivationExpression = try ArchivedExpression.format(expression)
            }
            if try object.object("NSFilteringPredicate") != nil {
                notes.append("\(path): the filter of the derivation is not read")
            }
        }
        if type == .composite { try readElements(&attribute) }
        Self.takeLimits(&attribute)
        return attribute
    }

    private mutating func readDefaultValue(_ attribute: inout ModelDocument.Attribute) throws {
        let archived = try object.value("NSDefaultValue")
        if let value = try ArchivedConstants.value(archived).map({ Self.fitted($0, to: attribute.type) }) {
            guard Self.fits(value, attribute.type) else {
                notes.append("\(path): the default value is none of type \(attribute.type.rawValue) and is not read")
                return
            }
            attribute.defaultValue = value
        } else if case .object(let value) = archived {
            notes.append("\(path): the default value, a \(value.className), is not read")
        }
    }

    /// Whether a value is one of a type. Apple's compiler writes others, too, of texts that Xcode's editor has kept
    /// from an attribute's earlier type.
    private static func fits(_ value: ModelDocument.Value, _ type: ModelDocument.AttributeType) -> Bool {
        switch (type, value) {
        case (.integer16, .integer(let number)): Int16(exactly: number) != nil
        case (.integer32, .integer(let number)): Int32(exactly: number) != nil
        case (.integer64, .integer), (.double, .real), (.float, .real), (.decimal, .decimal), (.boolean, .boolean),
            (.string, .string), (.date, .date), (.binary, .data):
            true
        case (.uuid, .string(let text)): UUID(uuidString: text) != nil
        case (.uri, .string(let text)): URL(string: text) != nil
        case (.undefined, _), (.transformable, _), (.composite, _): true
        default: false
        }
    }

    private mutating func readElements(_ attribute: inout ModelDocument.Attribute) throws {
        // Two attributes of one name may have other elements, so that without a name of its own a composite is called
        // after its place.
        let compositeName = try object.string("NSCompositeName") ?? place
        attribute.compositeName = compositeName
        var composite = ModelDocument.Composite(name: compositeName)
        let elements = try object.objects("NSCompositeElements") + object.objects("NSElements")
        guard !elements.isEmpty else { throw ArchiveError("the composite has no elements") }
        for element in elements {
            guard let elementName = try element.string("NSPropertyName") else {
                throw ArchiveError("an element of the composite has no name")
            }
            // As deep as composites lie in each other; an archive that leads in a circle ends here.
            guard path.count < 4_096 else { throw ArchiveError("composites are nested too deeply") }
            var reader = ArchivedPropertyReader(
                element, elementName, "\(path).\(elementName)", place: "\(place).\(elementName)")
            composite.attributes.append(try reader.attribute())
            notes += reader.notes
            composites.merge(reader.composites) { first, _ in first }
        }
        composites[compositeName] = composite
    }

    /// Archives have 1 for true and integers for reals.
    private static func fitted(
        _ value: ModelDocument.Value, to type: ModelDocument.AttributeType
    ) -> ModelDocument.Value {
        switch (type, value) {
        case (.boolean, .integer(let number)): return .boolean(number != 0)
        case (.double, .integer(let number)), (.float, .integer(let number)): return .real(Double(number))
        case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)):
            return .integer(flag ? 1 : 0)
        case (.integer16, .real(let number)), (.integer32, .real(let number)), (.integer64, .real(let number)):
            return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) } ?? value
        case (.decimal, .integer(let number)): return .decimal("\(number)")
        case (.decimal, .real(let number)): return .decimal("\(number)")
        case (.date, .real(let seconds)): return .date(seconds)
        case (.date, .integer(let seconds)): return .date(Double(seconds))
        default: return value
        }
    }

    /// What the compiler makes of an attribute's limits: a predicate with the number of an error. Turned back.
    private static func takeLimits(_ attribute: inout ModelDocument.Attribute) {
        attribute.property.validations.removeAll { validation in
            guard case .integer(let code) = validation.warning else { return false }
            let parts = validation.predicate.split(separator: " ", maxSplits: 2).map { String($0) }
            guard parts.count == 3, parts[0] == "SELF" || parts[0] == "length" else { return false }
            switch (code, parts[1]) {
            case (1610, "<="), (1630, "<="), (1660, "<="):
                guard let limit = limit(parts[2], attribute.type) else { return false }
                attribute.maximum = limit
            case (1620, ">="), (1640, ">="), (1670, ">="):
                guard let limit = limit(parts[2], attribute.type) else { return false }
                attribute.minimum = limit
            case (1680, "MATCHES"):
                guard let pattern = unquoted(parts[2]) else { return false }
                attribute.pattern = pattern
            default: return false
            }
            return true
        }
    }

    private static func limit(_ text: String, _ type: ModelDocument.AttributeType) -> ModelDocument.Value? {
        if type == .date {
            guard text.hasPrefix("CAST("), text.hasSuffix(", \"NSDate\")") else { return nil }
            return Double(text.dropFirst(5).dropLast(11)).map { .date($0) }
        }
        if let integer = Int64(text) {
            return type == .string ? .integer(integer) : fitted(.integer(integer), to: type)
        }
        if let real = Double(text) { return fitted(.real(real), to: type) }
        guard text.hasPrefix("CAST(\""), text.hasSuffix("\", \"NSDecimalNumber\")") else { return nil }
        return .decimal(String(text.dropFirst(6).dropLast(21)))
    }

    private static func unquoted(_ text: String) -> String? {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return nil }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            switch (isEscaped, character) {
            case (false, "\\"): isEscaped = true
            case (true, "n"): (result, isEscaped) = (result + "\n", false)
            case (true, "r"): (result, isEscaped) = (result + "\r", false)
            case (true, "t"): (result, isEscaped) = (result + "\t", false)
            default: (result, isEscaped) = (result + String(character), false)
            }
        }
        return isEscaped ? nil : result
    }

    // MARK: Others

    mutating func relationship() throws -> ModelDocument.Relationship {
        let destination = try object.object("NSDestinationEntity")?.string("NSEntityName")
        var relationship = ModelDocument.Relationship(
            name: name, destinationName: try destination ?? object.string("_NSDestinationEntityName") ?? "")
        relationship.property = try common()
        let inverse = try object.object("NSInverseRelationship")
        relationship.inverseName = try inverse?.string("NSPropertyName") ?? object.string("_NSInverseRelationshipName")
        relationship.inverseEntityName =
            relationship.inverseName == nil
            ? nil : try inverse?.object("NSEntity")?.string("NSEntityName") ?? destination
        relationship.minCount = try max(0, object.integer("NSMinCount") ?? 0)
        // Models made in code also have -1 for "no limit".
        relationship.maxCount = try max(0, object.integer("NSMaxCount") ?? 0)
        relationship.isOrdered = try object.flag("NSIsOrdered")
        switch try object.integer("NSDeleteRule") ?? 1 {
        case 0: relationship.deleteRule = .noAction
        case 2: relationship.deleteRule = .cascade
        case 3: relationship.deleteRule = .deny
        default: relationship.deleteRule = .nullify
        }
        return relationship
    }

    mutating func fetchedProperty() throws -> ModelDocument.FetchedProperty {
        var fetched = ModelDocument.FetchedProperty(name: name)
        fetched.property = try common()
        // A fetched property is transient by nature, and a document says so by its kind.
        fetched.property.isTransient = false
        if let request = try object.object("NSFetchRequest") {
            fetched.fetchRequest = try ArchivedFetchRequest.read(
                request, name: name, entityName: object.string("_NSFetchRequestEntityName"))
        }
        return fetched
    }
}
