import Foundation
import Strata
import StrataBrowsing

/// The columns of an entity's objects, and what an object has in them.
struct ObjectColumns {
    private let properties: [NSPropertyDescription]

    /// - Parameter withToMany: whether to-many relationships are listed, which takes a look-up each.
    init(_ entity: NSEntityDescription, withToMany: Bool) {
        properties = entity.properties.filter { property in
            if let relationship = property as? NSRelationshipDescription {
                return withToMany || !relationship.isToMany
            }
            return property is NSAttributeDescription && !property.isTransient
        }.sorted { first, second in
            let (isFirst, isSecond) = (first is NSAttributeDescription, second is NSAttributeDescription)
            return isFirst == isSecond ? first.name < second.name : isFirst
        }
    }

    var names: [String] { properties.map(\.name) }

    func cells(_ object: NSManagedObject) -> [Cell] {
        properties.map { Cell(object.value(forKey: $0.name), $0 as? NSAttributeDescription) }
    }

    static func uri(_ object: NSManagedObject) -> Cell { Cell(object.objectID) }
}

extension Session {
    /// Objects in the order of the request, some at a time: memory is that of their IDs.
    func forEach(
        _ request: NSFetchRequest<any NSFetchRequestResult>, _ body: (NSManagedObject) throws -> Void
    ) throws {
        request.resultType = .managedObjectIDResultType
        let ids = try context.fetch(request).compactMap { $0 as? NSManagedObjectID }
        let bar = ProgressBar(request.entityName ?? "objects", .objects, besideOutput: true)
        defer { bar.finish() }
        for start in stride(from: 0, to: ids.count, by: 1_000) {
            bar.update(start, of: ids.count)
            for id in ids[start..<min(start + 1_000, ids.count)] {
                try context.throwingReadFailures { try body(context.existingObject(with: id)) }
            }
            context.reset()
        }
    }
}
