import CoreData
import Foundation
import Testing

/// What Core Data's reference says of batch and history requests and of merge policies, where no other suite says it.
@Suite struct RequestReferenceTests {
    private func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for index in 0..<6 {
                let employee = index < 4 ? Employee(context: context) : Manager(context: context)
                employee.name = "e\(index)"
                employee.age = 20
            }
            try context.save()
        }
        return (store, context)
    }

    // MARK: Batches

    @Test func defaultsOfBatches() throws {
        let insert = NSBatchInsertRequest(entityName: "Employee", objects: [])
        #expect(insert.resultType == .statusOnly && insert.entityName == "Employee")
        #expect(insert.objectsToInsert?.isEmpty == true && insert.requestType == .batchInsertRequestType)
        let update = NSBatchUpdateRequest(entityName: "Employee")
        #expect(update.resultType == .statusOnlyResultType && update.includesSubentities)
        #expect(update.predicate == nil && update.propertiesToUpdate == nil)
        #expect(update.requestType == .batchUpdateRequestType)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        let delete = NSBatchDeleteRequest(fetchRequest: fetch)
        #expect(delete.resultType == .resultTypeStatusOnly && delete.requestType == .batchDeleteRequestType)
        #expect(delete.fetchRequest.entityName == "Employee")
    }

    /// Batches pass the context by: it is told nothing and keeps what it has.
    @Test(arguments: StoreKind.allCases) func batchesDoNotTouchTheContext(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let all = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(all.map(\.age) == Array(repeating: 20, count: 6))
            let saved = SaveRecorder(.NSManagedObjectContextDidSave, context)
            let changed = SaveRecorder(.NSManagedObjectContextObjectsDidChange, context)
            let update = NSBatchUpdateRequest(entityName: "Employee")
            let age = try #require(store.model.entitiesByName["Employee"]?.attributesByName["age"])
            update.propertiesToUpdate = [age: NSExpression(format: "age + 1")]
            update.includesSubentities = false
            let status = try context.execute(update) as? NSBatchUpdateResult
            #expect(status?.result as? Bool == true && status?.resultType == .statusOnlyResultType)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            fetch.fetchLimit = 1
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeObjectIDs
            let deleted = try context.execute(delete) as? NSBatchDeleteResult
            #expect(deleted?.result as? [NSManagedObjectID] == [all[5].objectID])
            let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "n"]])
            insert.resultType = .count
            #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 1)
            #expect(saved.infos.isEmpty && changed.infos.isEmpty && !context.hasChanges)
            #expect(all.map(\.age) == Array(repeating: 20, count: 6) && !all[5].isDeleted)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSUpdatedObjectsKey: all[..<5].map(\.objectID), NSDeletedObjectsKey: [all[5].objectID],
                ], into: [context])
            #expect(all[..<5].map(\.age) == [21, 21, 21, 21, 20] && all[5].isDeleted)
        }
    }

    @Test(arguments: StoreKind.allCases) func batchesSetNull(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            _ = try context.execute(NSBatchInsertRequest(entityName: "Department", objects: [["title": "a"]]))
            for null in [NSNull(), NSExpression(forConstantValue: nil)] as [Any] {
                let update = NSBatchUpdateRequest(entityName: "Department")
                update.propertiesToUpdate = ["title": "b"]
                _ = try context.execute(update)
                update.propertiesToUpdate = ["title": null]
                update.resultType = .updatedObjectsCountResultType
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
                context.reset()
                #expect(try fetchAll(Department.self, "Department", context).map(\.title) == [nil])
            }
        }
        withExtendedLifetime(store) {}
    }

    /// "Mixing entity types results in an error when you execute the request."
    @Test(arguments: StoreKind.allCases) func idsOfOneHierarchyAreDeleted(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let department = Department(context: context)
            try context.save()
            let all = try fetchAll(Employee.self, "Employee", context, sort: "name")
            let mixed = NSBatchDeleteRequest(objectIDs: [all[0].objectID, department.objectID])
            let error = #expect(throws: CocoaError.self) { try context.execute(mixed) }
            #expect(error?.errorCode == NSCoreDataError || error?.errorCode == NSPersistentStoreOperationError)
            #expect(error?.localizedDescription.contains("Department") == true)
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 6)
            let family = NSBatchDeleteRequest(objectIDs: [all[0].objectID, all[5].objectID])
            family.resultType = .resultTypeCount
            #expect((try context.execute(family) as? NSBatchDeleteResult)?.result as? Int == 2)
            let none = NSBatchDeleteRequest(objectIDs: [])
            #expect((try context.execute(none) as? NSBatchDeleteResult)?.result as? Bool == true)
        }
        withExtendedLifetime(store) {}
    }

    // MARK: History

    @Test(arguments: StoreKind.allCases) func historyComesInEveryResultType(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let employee = try fetchAll(Employee.self, "Employee", context, sort: "name")[0]
            employee.age = 70
            try context.save()
            context.delete(employee)
            try context.save()
            func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                #expect(request.resultType == .transactionsAndChanges && request.token == nil)
                request.resultType = type
                let result = try context.execute(request) as? NSPersistentHistoryResult
                #expect(result?.resultType == type)
                return result?.result
            }
            let transactions = try #require(
                try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])
            #expect(transactions.map { $0.changes?.count } == [6, 1, 1])
            #expect(transactions.map(\.transactionNumber) == transactions.map(\.transactionNumber).sorted())
            #expect(transactions.allSatisfy { $0.storeID == store.store.identifier && !$0.processID.isEmpty })
            let bare = try #require(try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])
            #expect(bare.count == 3 && bare.allSatisfy { $0.changes == nil })
            let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
            #expect(changes.map(\.changeType) == Array(repeating: .insert, count: 6) + [.update, .delete])
            #expect(Set(changes.map(\.changeID)).count == 8)
            #expect(changes[0].updatedProperties == nil && changes[7].updatedProperties == nil)
            #expect(changes[6].updatedProperties?.map(\.name) == ["age"] && changes[6].tombstone == nil)
            #expect(try (result(.objectIDs) as? [NSManagedObjectID])?.count == 8)
            #expect(try result(.count) as? Int == 8)
            #expect(try result(.statusOnly) as? Bool == true)
        }
    }

    @Test(arguments: StoreKind.allCases) func tokensAreCopiedArchivedAndCompared(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        let token = try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(store.coordinator.currentPersistentHistoryToken(fromStores: [store.store]) == token)
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        #expect(read == token && read?.hash == token.hash && token.copy() as? NSPersistentHistoryToken == token)
        try context.check { () throws in
            let after = NSPersistentHistoryChangeRequest.fetchHistory(after: read)
            #expect(after.token == token)
            let result = try context.execute(after) as? NSPersistentHistoryResult
            #expect((result?.result as? [NSPersistentHistoryTransaction])?.isEmpty == true)
            let everything: NSPersistentHistoryToken? = nil
            let all = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: everything))
            let transactions = (all as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.last?.token == token)
        }
    }

    // MARK: Merge policies

    @Test func policiesSayWhatTheyDo() {
        let policies: [(NSMergePolicy, NSMergePolicyType)] = [
            (.error, .errorMergePolicyType), (.rollback, .rollbackMergePolicyType),
            (.overwrite, .overwriteMergePolicyType),
            (.mergeByPropertyStoreTrump, .mergeByPropertyStoreTrumpMergePolicyType),
            (.mergeByPropertyObjectTrump, .mergeByPropertyObjectTrumpMergePolicyType),
        ]
        for (policy, type) in policies {
            #expect(policy.mergeType == type && NSMergePolicy(merge: type).mergeType == type)
        }
    }

    /// Version 0 stands for a row that is not there.
    @Test(arguments: StoreKind.allCases) func conflictsWithDeletionsHaveTheNewVersionZero(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        let other = store.context()
        try context.check { () throws in
            let employee = try fetchAll(Employee.self, "Employee", context, sort: "name")[0]
            employee.age = 70
            try other.check { () throws in
                other.delete(try other.existingObject(with: employee.objectID))
                try other.save()
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectMergeError)
            let conflicts = try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            #expect(conflicts.count == 1 && conflicts[0].sourceObject === employee)
            #expect(conflicts[0].newVersionNumber == 0 && conflicts[0].oldVersionNumber > 0)
            #expect(conflicts[0].cachedSnapshot == nil && conflicts[0].persistedSnapshot == nil)
            #expect(conflicts[0].objectSnapshot?["name"] as? String == "e0")
            #expect(context.hasChanges && employee.age == 70)
        }
    }
}
