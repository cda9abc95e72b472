import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct ParentRulesTests {
    @Test func aChildHasItsLinesCoordinator() throws {
        let store = try TestStore(.memory)
        let root = NSManagedObjectContext(.privateQueue)
        let child = ContextLine.child(of: root)
        let grandchild = ContextLine.child(of: child)
        #expect(grandchild.persistentStoreCoordinator == nil)
        root.persistentStoreCoordinator = store.coordinator
        #expect(grandchild.persistentStoreCoordinator === store.coordinator)
        #expect(grandchild.parent === child && child.parent === root && root.parent == nil)
        child.performAndWait { _ = Employee(context: child) }
        child.reset()
        child.parent = nil
        #expect(child.persistentStoreCoordinator == nil && grandchild.persistentStoreCoordinator == nil)
    }

    @Test func aChildKeepsItsParent() throws {
        let store = try TestStore(.memory)
        var root: NSManagedObjectContext? = store.shortLivedContext()
        weak let weakRoot = root
        var child: NSManagedObjectContext? = ContextLine.child(of: try #require(root))
        root = nil
        try child?.performAndWait {
            Employee(context: try #require(child)).name = "kept"
            try child?.save()
        }
        #expect(try weakRoot?.performAndWait { try weakRoot?.employeeNames() } == ["kept"])
        child = nil
        #expect(weakRoot == nil)
    }

    #if os(Linux) || os(macOS)
    @Test func aContextWithCoordinatorTakesNoParent() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            store.context().parent = store.context()
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            let child = ContextLine.child(of: store.context())
            child.persistentStoreCoordinator = store.coordinator
            child.persistentStoreCoordinator = nil
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            let child = ContextLine.child(of: store.context())
            let employee = Employee(context: child)
            child.parent = store.context()
            withExtendedLifetime(employee) {}
        }
    }
    #endif

    // MARK: Going back

    @Test(arguments: StoreKind.allCases) func refreshRollbackAndReset(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try root.performAndWait {
            let employee = Employee(context: root)
            employee.name = "start"
            try root.save()
            employee.name = "unsaved"
            try child.performAndWait {
                let mine = try #require(child.object(with: employee.objectID) as? Employee)
                mine.age = 3
                employee.name = "newer"
                child.refresh(mine, mergeChanges: true)
                #expect(mine.age == 3 && mine.name == "newer" && mine.hasChanges)
                let inserted = Employee(context: child)
                child.rollback()
                #expect(mine.age == 18 && mine.name == "newer" && !child.hasChanges)
                #expect(inserted.managedObjectContext == nil)
                mine.age = 4
                child.reset()
                #expect(!child.hasChanges && mine.managedObjectContext == nil)
                let again = try #require(child.object(with: employee.objectID) as? Employee)
                #expect(again.name == "newer")
                // The parent gives up its changes: a child that reads again sees that.
                root.rollback()
                #expect(again.name == "newer")
                child.refresh(again, mergeChanges: false)
                #expect(again.name == "start")
            }
        }
    }

    @Test func anObjectThatItsParentForgotIsGone() throws {
        let line = try ContextLine(.memory)
        let (root, child) = (line.root, line.child)
        try child.performAndWait {
            let employee = Employee(context: child)
            employee.name = "x"
            try child.save()
            root.performAndWait { root.reset() }
            child.refresh(employee, mergeChanges: false)
            #expect(employee.name == "")
            #expect(throws: CocoaError.self) { try child.existingObject(with: employee.objectID) }
            #expect(try child.employeeNames() == [])
            // A fault can be had for an ID that nobody knows any more, in any context.
            let stale = try #require(root.performAndWait { root.object(with: employee.objectID) } as? Employee)
            #expect(root.performAndWait { stale.name } == "" && stale.objectID == employee.objectID)
        }
    }

    // MARK: Notifications and merging

    @Test func everyLevelPostsItsOwn() throws {
        let line = try ContextLine(.memory)
        let (root, child) = (line.root, line.child)
        try root.performAndWait {
            for name in ["changed", "deleted"] { Employee(context: root).name = name }
            try root.save()
        }
        try child.performAndWait {
            let all = try fetchAll(Employee.self, "Employee", child, sort: "name")
            all[0].age = 2
            child.delete(all[1])
            Employee(context: child).name = "inserted"
            let will = SaveRecorder(.NSManagedObjectContextWillSave, child)
            let saved = SaveRecorder(.NSManagedObjectContextDidSave, child)
            let ids = SaveRecorder(.NSManagedObjectContextDidSaveObjectIDs, child)
            let changed = SaveRecorder(.NSManagedObjectContextObjectsDidChange, root)
            let rootSaved = SaveRecorder(.NSManagedObjectContextDidSave, root)
            let rootWill = SaveRecorder(.NSManagedObjectContextWillSave, root)
            try child.save()
            #expect(will.infos.count == 1 && saved.infos.count == 1 && ids.infos.count == 1)
            #expect(rootSaved.infos.isEmpty && rootWill.infos.isEmpty)
            #expect(saved.names(NSInsertedObjectsKey) == ["inserted"])
            #expect(saved.names(NSUpdatedObjectsKey) == ["changed"])
            #expect((saved.infos[0][NSDeletedObjectsKey] as? Set<NSManagedObject>) == [all[1]])
            #expect((ids.infos[0][NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>) == [all[0].objectID])
            #expect(changed.infos.count == 1)
            #expect(changed.names(NSInsertedObjectsKey) == ["inserted"])
            #expect(changed.names(NSUpdatedObjectsKey) == ["changed"])
            #expect(changed.names(NSDeletedObjectsKey) == ["deleted"])
            for objects in changed.infos[0].values.compactMap({ $0 as? Set<NSManagedObject> }) {
                #expect(objects.allSatisfy { $0.managedObjectContext === root })
            }
            try root.performAndWait { try root.save() }
            #expect(rootWill.infos.count == 1 && rootSaved.infos.count == 1)
            #expect(rootSaved.names(NSInsertedObjectsKey) == ["inserted"])
            #expect(rootSaved.infos[0].count == 3 && saved.infos[0].count == 3)
        }
    }

    @Test func objectsAwakeInEveryContext() throws {
        let line = try ContextLine(.memory)
        try line.child.performAndWait {
            let employee = Employee(context: line.child)
            employee.name = "x"
            try line.child.save()
            #expect(employee.calls == ["awakeFromInsert", "willSave", "didSave"])
            line.root.performAndWait {
                let upper = line.root.registeredObject(for: employee.objectID) as? Employee
                #expect(upper?.calls == ["awakeFromInsert"])
            }
        }
    }

    @Test func siblingsMergeByThemselvesIfAsked() throws {
        let line = try ContextLine(.memory)
        let (root, child) = (line.root, line.child)
        let merging = ContextLine.child(of: root)
        let still = ContextLine.child(of: root)
        merging.automaticallyMergesChangesFromParent = true
        let id = try root.performAndWait {
            let employee = Employee(context: root)
            employee.name = "start"
            try root.save()
            return employee.objectID
        }
        let (first, second) = try (
            merging.performAndWait { try #require(merging.object(with: id) as? Employee) },
            still.performAndWait { try #require(still.object(with: id) as? Employee) }
        )
        merging.performAndWait { #expect(first.name == "start") }
        still.performAndWait { #expect(second.name == "start") }
        func change(_ name: String, in context: NSManagedObjectContext, save: Bool = true) throws {
            try context.performAndWait {
                (context.object(with: id) as? Employee)?.name = name
                if save { try context.save() }
            }
        }
        try change("sibling", in: child)
        merging.performAndWait { #expect(first.name == "sibling") }
        try change("parent", in: root)
        merging.performAndWait { #expect(first.name == "parent") }
        root.automaticallyMergesChangesFromParent = true
        let other = line.store.context()
        try change("other", in: other)
        root.performAndWait {}
        merging.performAndWait { #expect(first.name == "other") }
        still.performAndWait {
            #expect(second.name == "start")
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [still])
            #expect(second.name == "other")
        }
    }

    // MARK: Queues

    @Test(.timeLimit(.minutes(20))) func queuesNeverWaitForThemselves() throws {
        let line = try ContextLine(.memory, depth: 3)
        let (root, child, grandchild) = (line.root, line.child, line.contexts[2])
        try root.performAndWait {
            try child.performAndWait {
                try grandchild.performAndWait {
                    Employee(context: grandchild).name = "nested"
                    try grandchild.save()
                    #expect(try grandchild.employeeNames() == ["nested"])
                    try root.performAndWait {
                        try child.save()
                        try grandchild.check { () throws in #expect(try grandchild.employeeNames() == ["nested"]) }
                        try root.save()
                    }
                    #expect(grandchild.registeredObjects.allSatisfy { !$0.objectID.isTemporaryID })
                }
            }
        }
    }

    @Test @MainActor func childrenOfAMainQueueContext() async throws {
        let store = try TestStore(.memory)
        let view = NSManagedObjectContext(.mainQueue)
        view.persistentStoreCoordinator = store.coordinator
        let background = ContextLine.child(of: view)
        let twin = NSManagedObjectContext(.mainQueue)
        twin.parent = view
        try background.performAndWait {
            Employee(context: background).name = "from a block waited for"
            try background.save()
        }
        #expect(try view.employeeNames() == ["from a block waited for"])
        #expect(try twin.employeeNames() == ["from a block waited for"])
        try await background.perform {
            Employee(context: background).name = "later"
            try background.save()
            #expect(try background.employeeNames().count == 2)
        }
        #expect(view.insertedObjects.count == 2)
        let editor = Employee(context: twin)
        editor.name = "twin"
        try twin.save()
        try view.save()
        #expect(!editor.objectID.isTemporaryID)
        #expect(try view.employeeNames() == ["from a block waited for", "later", "twin"])
    }

    @Test(arguments: StoreKind.allCases) func manyContextsAtOnce(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let root = store.context()
        root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (workers, rounds) = (6, 25)
        let failures = Mutex<[String]>([])
        let contexts = Unchecked((0..<workers).map { _ in ContextLine.child(of: root) })
        let shared = Unchecked(root)
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            let context = contexts.value[worker]
            let leaf = ContextLine.child(of: context)
            for round in 0..<rounds {
                do {
                    try leaf.performAndWait {
                        let employee = Employee(context: leaf)
                        employee.name = "\(worker)-\(round)"
                        let department = Department(context: leaf)
                        department.title = "\(worker)"
                        employee.department = department
                        try leaf.save()
                        let all = try fetchAll(Employee.self, "Employee", leaf)
                        for other in all.shuffled().prefix(3) { other.age = Int16(round) }
                        _ = all.reduce(0) { $0 + ($1.department?.employees.count ?? 0) }
                        try leaf.save()
                    }
                    try context.performAndWait { try context.save() }
                    if round % 5 == worker % 5 {
                        try shared.value.performAndWait { try shared.value.save() }
                    }
                } catch {
                    failures.withLock { $0.append("\(worker)-\(round): \(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try root.performAndWait { try root.save() }
        let fresh = store.context()
        try fresh.performAndWait {
            let all = try fetchAll(Employee.self, "Employee", fresh)
            let expected = (0..<workers).flatMap { worker in (0..<rounds).map { "\(worker)-\($0)" } }
            #expect(Set(all.map(\.name)) == Set(expected) && all.count == expected.count)
            #expect(all.allSatisfy { $0.department?.title == String($0.name.prefix(1)) })
        }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
}
