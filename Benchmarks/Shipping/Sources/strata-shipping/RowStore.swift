import Foundation
import Strata

/// Rows of a number, a text and an amount; `compare.py` makes the same for SQLite.
struct RowStore {
    private let container: NSPersistentContainer

    init(_ path: String) throws {
        try self.init(NSPersistentStoreDescription(url: URL(fileURLWithPath: path, isDirectory: true)))
    }

    init(_ description: NSPersistentStoreDescription) throws {
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
        container.persistentStoreDescriptions = [description]
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

    /// Changes and deletes rows of a store in which their numbers are `0..<rows`: a row out of so many in each save.
    func change(_ rows: Int, saves: Int, perSave: Int, round: Int) throws {
        let context = container.newBackgroundContext()
        for save in 0..<saves {
            try context.performAndWait {
                // Neighbours, so that a save reads one place.
                let start = Int(UInt32(truncatingIfNeeded: (save + round * 7_919) &* 2_654_435_761)) % rows
                let request = NSFetchRequest<NSManagedObject>(entityName: "Row")
                request.predicate = NSPredicate(format: "number >= %ld AND number < %ld", start, start + perSave)
                for (index, row) in try context.fetch(request).enumerated() {
                    if index % 10 == 9 {
                        context.delete(row)
                    } else {
                        row.setValue("Changed by save \(save) of round \(round)", forKey: "note")
                    }
                }
                try context.save()
                context.reset()
            }
        }
    }

    func count() throws -> Int {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Row"))
        }
    }

    /// The rows and a sum over what they hold, which is the same for the same rows in any order.
    func digest(upTo rows: Int) throws -> (rows: Int, sum: UInt64) {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var (count, sum) = (0, UInt64(0))
            let part = 100_000
            for start in stride(from: 0, to: rows, by: part) {
                let request = NSFetchRequest<NSDictionary>(entityName: "Row")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["number", "note"]
                request.predicate = NSPredicate(format: "number >= %ld AND number < %ld", start, start + part)
                for row in try context.fetch(request) {
                    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
                    let number = (row["number"] as? NSNumber)?.int64Value ?? -1
                    for byte in "\(number) \(row["note"] as? String ?? "none")".utf8 {
                        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
                    }
                    sum &+= hash
                    count += 1
                }
            }
            return (count, sum)
        }
    }
}
