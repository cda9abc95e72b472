import CoreData
import Foundation
import StrataTestKit
import Testing

/// Rows of a ``HierarchyModel``: runs of one entity between others, written together or one by one.
struct HierarchyWorld {
    let model: HierarchyModel
    let context: NSManagedObjectContext

    func fill(_ count: Int, _ random: inout SeededGenerator) throws {
        let boxes = (0..<12).map { _ in
            context.insert("Box", ["title": random.chance(0.1) ? nil : CompiledFetchModel.text(&random)])
        }
        try context.save()
        // Most rows are of the entity at the top, so that those of the others lie far apart.
        var left = count
        while left > 0 {
            let names = model.concreteNames
            let name = names[random.chance(0.4) ? 0 : random.below(names.count)]
            let run = random.chance(0.3) ? 1 + random.below(1_500) : 1 + random.below(40)
            if run > 40 || random.chance(0.3) {
                try insertTogether(name, run, &random)
            } else {
                try insert(name, run, boxes, &random)
            }
            left -= run
        }
    }

    private func values(_ name: String, _ random: inout SeededGenerator) -> [String: Any] {
        var values: [String: Any] = [:]
        for attribute in model.attributes(name) {
            values[attribute.name] =
                attribute.name == "mark" ? random.below(4) : CompiledFetchModel.value(attribute.kind, &random)
        }
        return values
    }

    private func insertTogether(_ name: String, _ count: Int, _ random: inout SeededGenerator) throws {
        let rows = (0..<count).map { _ in values(name, &random) }
        try context.execute(NSBatchInsertRequest(entityName: name, objects: rows))
    }

    private func insert(
        _ name: String, _ count: Int, _ boxes: [NSManagedObject], _ random: inout SeededGenerator
    ) throws {
        for _ in 0..<count {
            let object = context.insert(name, values(name, &random))
            if model.isInBoxes(name), random.chance(0.6) {
                object.setValue(boxes[random.below(boxes.count)], forKey: "box")
            }
        }
        try context.save()
        context.reset()
        _ = try context.all("Box")
    }

    /// Changes some objects and deletes others.
    func change(_ count: Int, saving: Bool = true, _ random: inout SeededGenerator) throws {
        let ids = try self.ids()
        for _ in 0..<count {
            let object = context.object(with: ids[random.below(ids.count)])
            if object.isDeleted { continue }
            if random.chance(0.2) {
                context.delete(object)
            } else if let name = object.entity.name {
                for (key, value) in values(name, &random) where random.chance(0.5) {
                    object.setValue(value, forKey: key)
                }
            }
        }
        guard saving else { return }
        try context.save()
        context.reset()
    }

    /// The objects of the hierarchy.
    func ids() throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: model.names[0])
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
    }
}
