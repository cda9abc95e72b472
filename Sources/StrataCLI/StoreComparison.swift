import Foundation
import Strata
import StrataBrowsing

/// Compares the objects of two stores of one model, by entity and primary key.
struct StoreComparison {
    private let first: Session
    private let second: Session

    /// How many objects of each store are in memory at a time.
    private static let batch = 1_000

    /// - Throws: ``CommandError`` when the stores have different models.
    init(_ first: Session, _ second: Session) throws {
        self.first = first
        self.second = second
        let hashes = [first, second].map { $0.model.entityVersionHashesByName }
        let names = Set(hashes[0].keys).union(hashes[1].keys).filter { hashes[0][$0] != hashes[1][$0] }
        guard names.isEmpty else {
            throw CommandError(
                "the stores have different models: they differ in \(names.sorted().joined(separator: ", "))")
        }
    }

    /// Calls the body with each difference, entity by entity, ascending by key.
    func forEach(of entity: NSEntityDescription?, _ body: (Difference) -> Void) throws {
        for candidate in first.model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            if candidate.isAbstract { continue }
            if let entity, !candidate.isKindOf(entity: entity) { continue }
            try compare(candidate.name ?? "", body)
        }
    }

    private func compare(_ name: String, _ body: (Difference) -> Void) throws {
        let (mine, theirs) = (try Self.ids(name, first), try Self.ids(name, second))
        let keys = Set(mine.keys).union(theirs.keys).sorted()
        let bar = ProgressBar("comparing \(name)", .objects, besideOutput: true)
        defer { bar.finish() }
        for start in stride(from: 0, to: keys.count, by: Self.batch) {
            bar.update(start, of: keys.count)
            let part = keys[start..<min(start + Self.batch, keys.count)]
            let before = try Self.records(part.map { mine[$0] }, of: name, first)
            let after = try Self.records(part.map { theirs[$0] }, of: name, second)
            for (before, after) in zip(before, after) {
                if let difference = Self.difference(name, before, after) { body(difference) }
            }
        }
    }

    /// By primary key.
    private static func ids(_ name: String, _ session: Session) throws -> [UInt64: NSManagedObjectID] {
        try session.context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
            request.resultType = .managedObjectIDResultType
            request.includesSubentities = false
            return Dictionary(try session.context.fetch(request).map { (key(of: $0), $0) }) { first, _ in first }
        }
    }

    /// The number at the end of the URI.
    private static func key(of id: NSManagedObjectID) -> UInt64 {
        UInt64(id.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) ?? 0
    }

    // MARK: Objects

    private struct Record {
        let object: Cell
        let names: [String]
        let cells: [Cell]
    }

    private static func records(
        _ ids: [NSManagedObjectID?], of name: String, _ session: Session
    ) throws -> [Record?] {
        try session.context.performAndWait {
            defer { session.context.reset() }
            return try session.context.throwingReadFailures {
                // All of them at once; each is found in memory then.
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.predicate = NSPredicate(format: "SELF IN %@", ids.compactMap { $0 })
                request.returnsObjectsAsFaults = false
                let objects = try session.context.fetch(request)
                defer { withExtendedLifetime(objects) {} }
                return try ids.map { id in
                    guard let id else { return nil }
                    let object = try session.context.existingObject(with: id)
                    let properties = compared(object.entity)
                    let cells = properties.map { property in
                        Cell(object.value(forKey: property.name), property as? NSAttributeDescription)
                    }
                    return Record(object: Cell(id), names: properties.map(\.name), cells: cells)
                }
            }
        }
    }

    /// Attributes and relationships, but for those that are told from their to-one ends and have no order.
    private static func compared(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.properties.filter { property in
            if property.isTransient { return false }
            guard let relationship = property as? NSRelationshipDescription else {
                return property is NSAttributeDescription
            }
            return !relationship.isToMany || relationship.isOrdered
                || relationship.inverseRelationship?.isToMany != false
        }.sorted { $0.name < $1.name }
    }

    private static func difference(_ name: String, _ before: Record?, _ after: Record?) -> Difference? {
        guard let present = after ?? before else { return nil }
        var values: [Difference.Value] = []
        for (index, property) in present.names.enumerated() {
            let old = before?.cells[index] ?? .null
            let new = after?.cells[index] ?? .null
            if before == nil ? isNothing(new) : after == nil ? isNothing(old) : key(old) == key(new) { continue }
            values.append(Difference.Value(property: property, before: old, after: new))
        }
        let kind: Difference.Kind = before == nil ? .insert : after == nil ? .delete : .update
        if kind == .update, values.isEmpty { return nil }
        return Difference(kind: kind, entity: name, object: present.object, values: values)
    }

    private static func isNothing(_ cell: Cell) -> Bool {
        if case .list(let cells) = cell { return cells.isEmpty }
        return cell.isEmpty
    }

    /// What is equal for equal values: objects of two stores are the same by entity and key.
    private static func key(_ cell: Cell) -> String {
        switch cell {
        case .object: cell.tableText(exactBytes: true)
        case .list(let cells): cells.map(key).joined(separator: " ")
        default: cell.json
        }
    }
}
