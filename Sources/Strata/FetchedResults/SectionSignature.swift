import Foundation

/// Tells requests apart whose results may come in other sections. Equal signatures have equal sections, as long as the
/// stores hold the same.
struct SectionSignature: Hashable, Sendable {
    private struct Sort: Hashable {
        var key: String
        var ascending: Bool
        /// Nil for the natural order.
        var selector: String?
    }

    /// Entities of models in use stay.
    private let entity: ObjectIdentifier
    private let includesSubentities: Bool
    private let predicate: String?
    private let sorts: [Sort]
    private let fetchLimit: Int
    private let fetchOffset: Int
    /// The IDs of the stores that are asked, nil for all.
    private let stores: [String]?
    private let sectionKey: String

    /// Nil where a part of the request is the program's code, which may find and order as it likes, and for results
    /// that are not managed objects.
    init?(_ settings: FetchedResultsSettings, _ sectionNameKeyPath: KeyPathComponents) {
        guard let shape = settings.shape, Self.isStored(sectionNameKeyPath, from: shape) else { return nil }
        var sorts: [Sort] = []
        for sort in settings.sorts {
            guard let sort = sort as? KeySortDescriptor, Self.isStored(sort.path, from: shape) else { return nil }
            switch sort.order {
            case .natural: sorts.append(Sort(key: sort.path.text, ascending: sort.ascending))
            case .selector(let selector):
                sorts.append(Sort(key: sort.path.text, ascending: sort.ascending, selector: "\(selector)"))
            case .comparator: return nil
            }
        }
        if let asked = settings.asked {
            guard let text = PredicateSignature.text(asked) else { return nil }
            predicate = text
        } else {
            predicate = nil
        }
        entity = ObjectIdentifier(shape)
        includesSubentities = settings.includesSubentities
        self.sorts = sorts
        fetchLimit = settings.fetchLimit
        fetchOffset = settings.fetchOffset
        stores = settings.affectedStores?.map { $0.identifier ?? "" }
        sectionKey = sectionNameKeyPath.text
    }

    /// Whether a path leads over to-one relationships to what stores hold. What is computed or transient may be another
    /// value in each context.
    private static func isStored(_ path: KeyPathComponents, from start: EntityShape) -> Bool {
        var shape = start
        for (index, name) in path.names.enumerated() {
            guard case .slot(let slot)? = shape.property(name), shape.slots[slot].isPersistent else { return false }
            let relationship = shape.slots[slot].relationshipIndex
            if relationship < 0 { return index == path.names.count - 1 }
            shape = shape.relationships[relationship].destination
        }
        return false
    }
}

/// Texts of predicates that differ wherever the predicates do.
private enum PredicateSignature {
    /// Nil for a predicate that a text cannot stand for: one with code, with the time or with chance in it, or with
    /// values that only describe themselves.
    static func text(_ predicate: NSPredicate) -> String? {
        guard isSaid(predicate) else { return nil }
        var folding = ConstantFolding()
        // The IDs of objects, which print themselves as their class likes.
        let folded = folding.apply(to: predicate)
        return folding.needsObjects ? nil : PredicatePrinter.text(folded)
    }

    private static func isSaid(_ predicate: NSPredicate) -> Bool {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            comparison.customSelector == nil && isSaid(comparison.leftExpression) && isSaid(comparison.rightExpression)
        case let compound as NSCompoundPredicate: compound.subpredicates.allSatisfy(isSaid)
        // Folding knows what is no constant.
        default: true
        }
    }

    private static func isSaid(_ expression: NSExpression) -> Bool {
        switch expression.form {
        case .constant(let value): isSaid(value)
        case .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): true
        case .function(nil, let name, let arguments): !changing.contains(name) && arguments.allSatisfy(isSaid)
        case .aggregate(let elements): elements.allSatisfy(isSaid)
        case .set(_, let left, let right): isSaid(left) && isSaid(right)
        case .subquery(let collection, _, let predicate): isSaid(collection) && isSaid(predicate)
        case .conditional(let predicate, let first, let second):
            isSaid(predicate) && isSaid(first) && isSaid(second)
        case .keyPath, .function, .block, .fetch: false
        }
    }

    private static func isSaid(_ constant: Any?) -> Bool {
        switch Operand(constant) {
        case .null, .integer, .double, .decimal, .string, .date, .data, .uuid, .url: true
        case .list(let list): list.elements.allSatisfy { isSaid(AnyElements.plain($0)) }
        case .dictionary: false
        case .object(let value): value is NSManagedObject || value is NSManagedObjectID
        }
    }

    private static let changing: Set<String> = ["now", "random", "random:"]
}
