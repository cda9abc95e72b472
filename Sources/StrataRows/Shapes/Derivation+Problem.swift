import Foundation

extension ModelShapes {
    /// - Throws: `CocoaError` 134060 for a derived attribute whose expression calls a function that there is not, or
    ///   reads what is no property. It would stop the program in the first save.
    package func checkDerivations() throws {
        guard hasDerivations else { return }
        for shape in shapes {
            for derivation in shape.derivations {
                guard let problem = derivation.problem(shape) else { continue }
                throw DescribedError(
                    .coreData,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The derived attribute \(shape.name).\(shape.slots[derivation.slot].name) cannot be "
                            + "computed: \(problem)."
                    ])
            }
        }
    }
}

extension Derivation {
    /// What is wrong with the expression, in words; nil if it can be computed for objects of the entity.
    fileprivate func problem(_ shape: EntityShape) -> String? {
        if let name = unknownFunction { return "there is no function \(name)" }
        for path in paths {
            if let name = Self.missing(path.names[...], shape) {
                return "\(name) in \(path.names.joined(separator: ".")) is no property"
            }
        }
        return nil
    }

    /// The first name of a path that leads nowhere.
    private static func missing(_ names: ArraySlice<String>, _ shape: EntityShape) -> String? {
        guard let name = names.first else { return nil }
        // Objects of a subentity may have more properties.
        let family = shape.family.filter { $0.property(name) != nil }
        if family.isEmpty { return name }
        let rest = names.dropFirst()
        guard let next = rest.first else { return nil }
        for member in family {
            if let relationship = member.relationship(name) { return missing(rest, relationship.destination) }
            if case .composite? = member.property(name) { return nil }
        }
        return next
    }
}
