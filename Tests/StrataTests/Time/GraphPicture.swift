import CoreData
import Foundation
import Testing

/// Everything that a context shows, as text: objects, values, relationships from both ends, counts.
enum GraphPicture {
    static func of(_ context: NSManagedObjectContext) throws -> [String: String] {
        var lines: [String: String] = [:]
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        for entity in model.entities {
            guard let name = entity.name else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.includesSubentities = false
            lines[name] = "\(try context.count(for: request))"
            for object in try context.fetch(request) { lines[object.objectID.uriRepresentation().path] = line(object) }
        }
        return lines
    }

    private static func line(_ object: NSManagedObject) -> String {
        object.entity.propertiesByName.sorted { $0.key < $1.key }.map { name, _ in
            "\(name)=\(text(object.value(forKey: name)))"
        }.joined(separator: " ")
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let object as NSManagedObject: object.objectID.uriRepresentation().path
        case let set as Set<NSManagedObject>:
            set.map { $0.objectID.uriRepresentation().path }.sorted().joined(separator: ",")
        case let set as NSOrderedSet:
            set.compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation().path }.joined(separator: ",")
        case let value?: "\(value)"
        }
    }

    /// Changes the company in a few random ways. What is there is looked up in the context.
    static func change(_ context: NSManagedObjectContext, using random: inout some RandomNumberGenerator) throws {
        func any<T: NSManagedObject>(_ type: T.Type, _ entity: String) throws -> T? {
            try fetchAll(type, entity, context).sorted {
                $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString
            }.randomElement(using: &random)
        }
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let employee = try any(Employee.self, "Employee")
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                insert("Department", context).setValue("d\(Int.random(in: 0..<99, using: &random))", forKey: "title")
            case 1, 2:
                let new = insert(Bool.random(using: &random) ? "Employee" : "Manager", context)
                new.setValue("n\(Int.random(in: 0..<99, using: &random))", forKey: "name")
                new.setValue(try any(Department.self, "Department"), forKey: "department")
            case 3: employee?.age = Int16.random(in: 0..<99, using: &random)
            case 4: employee?.department = try any(Department.self, "Department")
            case 5: if let employee { context.delete(employee) }
            case 6:
                let project = try any(NSManagedObject.self, "Project") ?? insert("Project", context)
                if let employee { project.mutableSetValue(forKey: "staff").add(employee) }
                let task = insert("Task", context)
                project.mutableOrderedSetValue(forKey: "tasks").insert(task, at: 0)
            case 7:
                let badge = insert("Badge", context)
                badge.setValue(1, forKey: "number")
                employee?.badge = badge
            case 8:
                if let employee, let other = try any(Employee.self, "Employee") {
                    employee.mutableSetValue(forKey: "friends").add(other)
                }
            default: if let object = try any(NSManagedObject.self, "Department") { context.delete(object) }
            }
        }
    }
}
