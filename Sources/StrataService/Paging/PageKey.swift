import Foundation
import Strata

/// A sort descriptor as paging needs it: what it reads, and which objects come behind a value.
struct PageKey {
    /// The relationships on the way, all to-one.
    let steps: [String]
    /// What is read of the object at the end: an attribute, an element of a composite one, or a count.
    let end: [String]
    let kind: PageValue.Kind
    let isAscending: Bool

    var path: String { (steps + end).joined(separator: ".") }
    var counts: Bool { end.last == "@count" }

    /// - Throws: ``StrataPageError/Code/unsupportedOrder`` for what a cursor cannot say a place in.
    init(_ sort: NSSortDescriptor, _ entity: NSEntityDescription) throws {
        guard let sort = sort as? KeySortDescriptor else {
            throw Self.refusal(entity, "it sorts by a Swift key path that has no name. Sort by a key")
        }
        let path = sort.path.text
        guard sort.isNatural || sort.selectorName == "compare:" else {
            let order = sort.selectorName.map { "with \($0)" } ?? "with a comparator"
            throw Self.refusal(
                entity,
                "it sorts by \"\(path)\" \(order). A predicate can only say what comes behind a value in the"
                    + " natural order: sort by the attribute itself, or by one that holds its text in lower case")
        }
        isAscending = sort.ascending
        var current = entity
        var steps: [String] = []
        var names = sort.path.names[...]
        while let name = names.first, let relationship = current.relationshipsByName[name], !relationship.isToMany,
            names.count > 1, let destination = relationship.destinationEntity
        {
            steps.append(name)
            current = destination
            names = names.dropFirst()
        }
        self.steps = steps
        end = Array(names)
        kind = try Self.kind(of: names, current, path, entity)
    }

    private static func kind(
        of names: ArraySlice<String>, _ owner: NSEntityDescription, _ path: String, _ entity: NSEntityDescription
    ) throws -> PageValue.Kind {
        guard let name = names.first, let property = owner.propertiesByName[name] else {
            throw refusal(
                entity,
                "it sorts by \"\(path)\", which \(owner.name ?? "") has no attribute for. Equal results are in the"
                    + " order of their creation without a key for it")
        }
        let owned = "\"\(path)\", where \(owner.name ?? "").\(name)"
        if let relationship = property as? NSRelationshipDescription {
            if relationship.isToMany, Array(names.dropFirst()) == ["@count"] { return .integer }
            throw refusal(entity, "it sorts by \(owned) is a relationship. Sort by an attribute, or by a count")
        }
        if property.isTransient {
            throw refusal(entity, "it sorts by \(owned) is transient: the store has no values of it")
        }
        guard var attribute = property as? NSAttributeDescription else {
            throw refusal(entity, "it sorts by \(owned) is no attribute")
        }
        for name in names.dropFirst() {
            let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
            guard let element = elements.first(where: { $0.name == name }) else {
                throw refusal(entity, "it sorts by \(owned) has no attribute named \(name)")
            }
            attribute = element
        }
        guard let kind = kind(attribute.attributeType) else {
            throw refusal(entity, "it sorts by \(owned) has values without an order")
        }
        return kind
    }

    private static func kind(_ type: NSAttributeType) -> PageValue.Kind? {
        switch type {
        case .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .integer
        case .floatAttributeType, .doubleAttributeType: .real
        case .decimalAttributeType: .decimal
        case .stringAttributeType: .text
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .uri
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
        }
    }

    private static func refusal(_ entity: NSEntityDescription, _ reason: String) -> StrataPageError {
        StrataPageError(
            .unsupportedOrder, "A request for \(entity.name ?? "") cannot be gone through in pages: \(reason).")
    }

    // MARK: Predicates

    /// The objects with a value.
    func equal(_ value: PageValue) -> NSPredicate { value.isNull ? nothing : comparison(.equalTo, value.constant) }

    /// The objects that come behind a value, or before it, in parts of which each comes behind, or before, the last.
    ///
    /// - Parameter isForward: whether behind.
    func beyond(_ value: PageValue, isForward: Bool) -> [NSPredicate] {
        // Null is less than everything.
        switch (isAscending == isForward, value.isNull) {
        case (true, true): [something]
        case (true, false): [comparison(.greaterThan, value.constant)]
        case (false, true): []
        // Each part is a range of an index; one predicate for both is not, on every path.
        case (false, false): [comparison(.lessThan, value.constant), nothing]
        }
    }

    /// Whether there may be values that are no numbers, which the store sorts as null and keeps as they are.
    private var mayBeNoNumber: Bool { kind == .real || kind == .date }

    private var nothing: NSPredicate {
        let null = comparison(.equalTo, nil)
        if !mayBeNoNumber { return null }
        let noNumber = Strata.NSComparisonPredicate(
            leftExpression: Strata.NSExpression(forKeyPath: path),
            rightExpression: Strata.NSExpression(forKeyPath: path), modifier: .direct, type: .notEqualTo)
        return CompoundPredicate(type: .or, subpredicates: [null, noNumber])
    }

    private var something: NSPredicate {
        mayBeNoNumber ? comparison(.greaterThanOrEqualTo, -Double.infinity) : comparison(.notEqualTo, nil)
    }

    private func comparison(_ type: Strata.NSComparisonPredicate.Operator, _ constant: Any?) -> NSPredicate {
        Strata.NSComparisonPredicate(
            leftExpression: Strata.NSExpression(forKeyPath: path),
            rightExpression: Strata.NSExpression(forConstantValue: constant), modifier: .direct, type: type)
    }
}
