import Foundation
import Strata

/// Rows of a number, a text and an amount; `compare.py` makes the same for SQLite.
struct RowStore {
    private let container: NSPersistentContainer

    init(_ path: String) throws {
        let entity = NSEntityDescription()
        entity.name = "Row"
        entity.properties = [("number", NSAttributeType.integer64AttributeType), ("note", .stringAttributeType)].map {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = $0
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        container = NSPersistentContainer(name: "Rows", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: URL(fileURLWithPath: path, isDirectory: true))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    static func note(_ number: Int) -> String {
        let mixed = UInt32(truncatingIfNeeded: number &* 2_654_435_761)
        return "Order \(number) of customer \(mixed % 5_000): ship to dock \(mixed % 97), reference \(mixed)"
    }

    /// Writes rows, and prints how long the saves took, and when each of them returned.
    func write(_ rows: Int, perSave: Int, pause: Int, first: Int) throws {
        let context = container.newBackgroundContext()
        var times: [Double] = []
        var ends: [Double] = []
        let began = ContinuousClock.now
        for start in stride(from: first, to: first + rows, by: perSave) {
            try context.performAndWait {
                let began = ContinuousClock.now
                for number in start..<min(start + perSave, first + rows) {
                    let row = NSEntityDescription.insertNewObject(forEntityName: "Row", into: context)
                    row.setValue(Int64(number), forKey: "number")
                    row.setValue(Self.note(number), forKey: "note")
                }
                try context.save()
                times.append((ContinuousClock.now - began) / .seconds(1))
                ends.append(Date().timeIntervalSince1970)
                context.reset()
            }
            if pause > 0 { Thread.sleep(forTimeInterval: Double(pause) / 1_000) }
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print("{\"seconds\": \(seconds), \"saves\": \(times), \"ends\": \(pause > 0 ? ends : [])}")
    }

    func count() throws -> Int {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Row"))
        }
    }
}
