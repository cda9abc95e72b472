/// Looks for what is wrong with one attribute.
struct AttributeLint {
    let attribute: ModelDocument.Attribute
    let entity: String
    let graph: EntityGraph

    init(_ attribute: ModelDocument.Attribute, entity: String, graph: EntityGraph) {
        self.attribute = attribute
        self.entity = entity
        self.graph = graph
    }

    func check() -> [ModelDiagnostic] {
        var found: [ModelDiagnostic] = []
        func report(_ severity: ModelDiagnostic.Severity, _ message: String) {
            found.append(ModelDiagnostic(severity, entity: entity, property: attribute.name, message))
        }
        switch attribute.type {
        case .undefined where !attribute.isTransient: report(.error, "the attribute has no type and is not transient")
        case .objectID: report(.error, "object identifiers cannot be stored; use a relationship")
        case .transformable:
            // What Xcode says of it: the transformers of old decode any class that an archive names.
            let insecure = [nil, "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"]
            if insecure.contains(attribute.valueTransformerName) {
                report(.warning, "it uses no or an insecure value transformer; NSSecureUnarchiveFromData is safe")
            }
        case .composite:
            if attribute.compositeName.flatMap({ graph.composites[$0] }) == nil {
                report(.error, "it is of composite '\(attribute.compositeName ?? "")', which is not in the model")
            }
        default: break
        }
        if attribute.type != .transformable, attribute.valueTransformerName != nil {
            report(.warning, "the value transformer is not used, since the attribute is not transformable")
        }
        if attribute.allowsExternalStorage, attribute.type != .binary && attribute.type != .transformable {
            report(.warning, "only binary data and transformables are kept outside")
        }
        if attribute.isDerived, attribute.derivationExpression == nil {
            report(.error, "the derived attribute has no expression")
        } else if !attribute.isDerived, attribute.derivationExpression != nil {
            report(.warning, "the expression is not used, since the attribute is not derived")
        }
        checkBounds(report)
        return found
    }

    private func checkBounds(_ report: (ModelDiagnostic.Severity, String) -> Void) {
        let minimum = attribute.minimum.flatMap(Self.number)
        let maximum = attribute.maximum.flatMap(Self.number)
        if let minimum, let maximum, minimum > maximum {
            report(.warning, "no value is valid: the least one is greater than the greatest one")
        }
        var start = attribute.defaultValue.flatMap(Self.number)
        if attribute.type == .string, case .string(let text)? = attribute.defaultValue { start = Double(text.count) }
        guard let start else { return }
        // A default of zero or nothing is what Xcode writes for a new attribute; objects get their values later.
        if start != 0, start < minimum ?? start || start > maximum ?? start {
            report(.warning, "the default value is outside of the limits")
        }
    }

    private static func number(_ value: ModelDocument.Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number), .date(let number): number
        case .decimal(let text): Double(text)
        default: nil
        }
    }
}

/// Looks for what is wrong with one relationship.
struct RelationshipLint {
    let relationship: ModelDocument.Relationship
    let entity: String
    let graph: EntityGraph

    init(_ relationship: ModelDocument.Relationship, entity: String, graph: EntityGraph) {
        self.relationship = relationship
        self.entity = entity
        self.graph = graph
    }

    private func diagnostic(_ severity: ModelDiagnostic.Severity, _ message: String) -> ModelDiagnostic {
        ModelDiagnostic(severity, entity: entity, property: relationship.name, message)
    }

    func check() -> [ModelDiagnostic] {
        guard !relationship.destinationName.isEmpty else {
            return [diagnostic(.error, "the relationship should have a destination")]
        }
        guard graph.entities[relationship.destinationName] != nil else {
            return [diagnostic(.error, "it leads to '\(relationship.destinationName)', which is no entity")]
        }
        var found: [ModelDiagnostic] = []
        if relationship.isOrdered, !relationship.isToMany {
            found.append(diagnostic(.error, "a to-one relationship cannot be ordered"))
        }
        if relationship.maxCount != 0, relationship.minCount > relationship.maxCount {
            let message = "it needs \(relationship.minCount) objects and may have \(relationship.maxCount)"
            found.append(diagnostic(.error, message))
        }
        if relationship.deleteRule == .noAction {
            found.append(
                diagnostic(.warning, "with the delete rule No Action, objects may be left that refer to deleted ones"))
        }
        return found + checkInverse()
    }

    private func checkInverse() -> [ModelDiagnostic] {
        guard let inverseName = relationship.inverseName else {
            return [diagnostic(.warning, "the relationship should have an inverse")]
        }
        let ownerName = relationship.inverseEntityName ?? relationship.destinationName
        guard let (owner, inverse) = graph.relationship(inverseName, of: ownerName) else {
            return [diagnostic(.error, "the inverse '\(ownerName).\(inverseName)' is no relationship")]
        }
        let related =
            graph.isKind(relationship.destinationName, of: owner)
            || graph.isKind(owner, of: relationship.destinationName)
        guard related else {
            return [diagnostic(.error, "the inverse '\(owner).\(inverseName)' does not belong to the destination")]
        }
        guard inverse.inverseName == relationship.name,
            graph.isKind(inverse.destinationName, of: entity)
                || graph.isKind(entity, of: inverse.destinationName)
        else {
            return [diagnostic(.error, "the inverse '\(owner).\(inverseName)' does not lead back")]
        }
        var found: [ModelDiagnostic] = []
        if relationship.deleteRule == .nullify, !inverse.isOptional, !inverse.isToMany {
            found.append(
                diagnostic(
                    .warning,
                    "'\(owner).\(inverseName)' is not optional, so that Nullify leaves objects that cannot be saved"))
        }
        if relationship.deleteRule == .cascade, inverse.deleteRule == .cascade, relationship.isToMany,
            inverse.isToMany
        {
            found.append(
                diagnostic(.warning, "Cascade at both ends of many-to-many deletes everything that hangs together"))
        }
        return found
    }
}
