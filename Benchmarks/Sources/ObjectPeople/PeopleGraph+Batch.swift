public import BenchSupport
public import DataSet
import Foundation
import Strata

/// Batch requests. Deletions take place in the store; no object is made.
extension PeopleGraph: BatchWrites {
    /// One request whose handler sets an object, which is always the same.
    public func insertInBatches(_ rows: [PersonRow], packed: PackedPeople) throws {
        try context.performAndWait {
            let departments = try (1...PersonRow.departmentCount).map(department)
            var index = 0
            let request = NSBatchInsertRequest(
                entityName: "Person",
                managedObjectHandler: { object in
                    guard index < rows.count, let person = object as? Person else { return true }
                    person.set(rows[index])
                    person.department = departments[Int(rows[index].department) - 1]
                    index += 1
                    return false
                })
            request.maximumObjectsPerTransaction = Workload.rowsPerBatch
            _ = try context.execute(request)
        }
    }

    /// One request with a dictionary for each row, filled by its handler.
    public func insertDictionaries(_ rows: [PersonRow]) throws {
        try context.performAndWait {
            let departments = try (1...PersonRow.departmentCount).map { try department($0).objectID }
            var index = 0
            let request = NSBatchInsertRequest(
                entityName: "Person",
                dictionaryHandler: { values in
                    guard index < rows.count else { return true }
                    let row = rows[index]
                    values["number"] = Int64(row.id)
                    values["name"] = row.name
                    values["email"] = row.email
                    values["age"] = row.age
                    values["score"] = row.score
                    values["created"] = Date(timeIntervalSince1970: row.created)
                    values["active"] = row.active
                    values["bio"] = row.bio
                    values["department"] = departments[Int(row.department) - 1]
                    index += 1
                    return false
                })
            request.maximumObjectsPerTransaction = Workload.rowsPerBatch
            _ = try context.execute(request)
        }
    }

    public func setScore(_ score: Double, fromAge age: Int16) throws -> Int {
        try context.performAndWait {
            let request = NSBatchUpdateRequest(entityName: "Person")
            request.predicate = NSPredicate(format: "age >= %d", Int32(age))
            request.propertiesToUpdate = ["score": score]
            request.resultType = .updatedObjectsCountResultType
            return try Self.count(context.execute(request))
        }
    }

    public func deleteInBatches(_ ids: [UInt64]) throws {
        try context.performAndWait {
            let objectIDs = ids.map { personIDs[Int($0) - 1] }
            let request = NSBatchDeleteRequest(objectIDs: objectIDs)
            request.maximumObjectsPerTransaction = Workload.rowsPerBatch
            _ = try context.execute(request)
        }
    }

    public func deleteActive() throws -> Int {
        try context.performAndWait {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
            fetch.predicate = NSPredicate(format: "active == YES")
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeCount
            return try Self.count(context.execute(request))
        }
    }

    private static func count(_ result: NSPersistentStoreResult) throws -> Int {
        let count =
            (result as? NSBatchUpdateResult)?.result as? Int ?? (result as? NSBatchDeleteResult)?.result as? Int
        guard let count else { throw BenchFailure("the batch request does not say how many") }
        return count
    }
}
