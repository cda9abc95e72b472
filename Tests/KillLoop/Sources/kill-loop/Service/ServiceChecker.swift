import Foundation
import Strata
import StrataIO
import StrataLog
import SystemPackage

/// Looks at the store that a killed service left.
enum ServiceChecker {
    /// Throws unless everything acknowledged is there, as acknowledged or newer, and everything else is there whole or
    /// not at all.
    ///
    /// - Returns: the revision of each order that there is.
    static func check(
        _ path: String, slotCount: Int, acknowledged: [Int64: Int64]
    ) throws -> [Int64: Int64] {
        let container = try ServiceModel.open(path)
        let context = container.newBackgroundContext()
        let found = try context.performAndWait { try revisions(in: context) }
        var occupants: [Int64: Int64] = [:]
        for number in found.keys {
            let slot = number % Int64(slotCount)
            guard occupants[slot] == nil else {
                throw Finding(
                    description: "order \(number) is there beside the one that it replaced or that replaced it")
            }
            occupants[slot] = number
        }
        for (number, revision) in acknowledged {
            let occupant = occupants[number % Int64(slotCount)] ?? 0
            if occupant > number { continue }
            guard let newest = found[number] else {
                throw Finding(description: "order \(number) was acknowledged and is gone")
            }
            guard newest >= revision else {
                throw Finding(
                    description: "revision \(revision) of order \(number) was acknowledged, there is \(newest)")
            }
        }
        try ServiceModel.close(container)
        try verify(path)
        return found
    }

    private static func revisions(in context: NSManagedObjectContext) throws -> [Int64: Int64] {
        let request = NSFetchRequest<ServiceOrder>(entityName: "Order")
        request.relationshipKeyPathsForPrefetching = ["items", "customer"]
        var found: [Int64: Int64] = [:]
        for order in try context.fetch(request) {
            let (number, revision) = (order.number, order.revision)
            let items = order.items
            guard ServicePlan.isWhole(order), items.count == 1, let item = items.first, item.revision == revision,
                item.note == ServicePlan.note(number, revision + 1),
                order.customer?.number == ServicePlan.customer(number)
            else { throw Finding(description: "order \(number) is there in part, as of revision \(revision)") }
            guard found.updateValue(revision, forKey: number) == nil else {
                throw Finding(description: "order \(number) is there twice")
            }
        }
        let items = try context.count(for: NSFetchRequest<ServiceItem>(entityName: "Item"))
        guard items == found.count else {
            throw Finding(description: "\(items) items of \(found.count) orders")
        }
        return found
    }

    private static func verify(_ path: String) throws {
        var options = LogOptions()
        options.access = .readOnly
        let store = try LogStore.open(FilePath(path), in: PosixFileSystem(), options: options, schema: nil)
        if let problem = try store.verify().problems.first { throw Finding(description: "verify: \(problem)") }
        try store.close()
    }
}
