import CoreData
import Foundation
import Testing

/// Objects that are deleted once more after a cascade has taken them. One that had never been saved had left its
/// context by then, and the second deletion stopped the program.
@Suite struct RepeatedDeletionTests {
    /// A parent with children, each with children of its own, which go with it.
    private static func model() -> NSManagedObjectModel {
        let node = GraphModel.entity("Node")
        let children = GraphModel.relationship("children", to: node, toMany: true, rule: .cascadeDeleteRule)
        let parent = GraphModel.relationship("parent", to: node)
        GraphModel.link(children, parent)
        let next = GraphModel.relationship("next", to: node, rule: .cascadeDeleteRule)
        let previous = GraphModel.relationship("previous", to: node)
        GraphModel.link(next, previous)
        node.properties = [GraphModel.attribute("name", .stringAttributeType), children, parent, next, previous]
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    /// What happens between the two deletions.
    enum Between: String, CaseIterable, Sendable {
        case nothing, process, refreshAll, refreshMerging, refreshDiscarding, fetch, reinsert
    }

    /// The parent is the first, "other" is nobody's.
    private static func nodes(_ context: NSManagedObjectContext) -> [NSManagedObject] {
        let nodes = ["a", "b", "c", "d", "other"].map { name in
            NSEntityDescription.insertNewObject(forEntityName: "Node", into: context).set(["name": name])
        }
        nodes[1].setValue(nodes[0], forKey: "parent")
        nodes[2].setValue(nodes[1], forKey: "parent")
        nodes[0].setValue(nodes[3], forKey: "next")
        return nodes
    }

    private static func act(
        _ between: Between, _ nodes: [NSManagedObject], _ context: NSManagedObjectContext
    ) throws {
        switch between {
        case .nothing: break
        case .process: context.processPendingChanges()
        case .refreshAll: context.refreshAllObjects()
        case .refreshMerging, .refreshDiscarding:
            context.processPendingChanges()
            // One that was never saved loses its values when it is discarded.
            for node in nodes[1..<4] where node.managedObjectContext != nil {
                context.refresh(node, mergeChanges: between == .refreshMerging)
            }
        case .fetch: _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node"))
        case .reinsert:
            context.processPendingChanges()
            context.insert(nodes[2])
            context.processPendingChanges()
        }
    }

    @Test(arguments: StoreKind.allCases, Between.allCases)
    func deletingWhatACascadeTookChangesNothing(_ kind: StoreKind, _ between: Between) throws {
        for isChild in [false, true] {
            for isStored in [false, true] {
                for undoes in [false, true] {
                    let store = try TestStore(kind, Self.model())
                    let root = store.context()
                    let context = isChild ? NSManagedObjectContext(.privateQueue) : root
                    if isChild { context.parent = root }
                    try context.performAndWait {
                        if undoes { context.undoManager = UndoManager() }
                        try Self.run(between, context, isStored: isStored)
                    }
                    if isChild { try root.performAndWait { try root.save() } }
                    let names = try stored("Node", store, sort: "name").compactMap { $0.text("name") }
                    #expect(names == ["other"], "child \(isChild), stored \(isStored), undo \(undoes)")
                }
            }
        }
    }

    private static func run(_ between: Between, _ context: NSManagedObjectContext, isStored: Bool) throws {
        let nodes = nodes(context)
        if isStored { try context.save() }
        context.delete(nodes[0])
        try act(between, nodes, context)
        for _ in 0..<2 {
            for node in nodes.dropLast() { context.delete(node) }
            context.refreshAllObjects()
        }
        #expect(nodes.dropLast().allSatisfy { $0.isDeleted || $0.managedObjectContext == nil })
        try context.save()
        for node in nodes.dropLast() { context.delete(node) }
        #expect(!context.hasChanges)
        try context.save()
    }

    @Test(arguments: StoreKind.allCases) func whatWasUndoneCanBeDeletedAgain(_ kind: StoreKind) throws {
        for isStored in [false, true] {
            let store = try TestStore(kind, Self.model())
            let context = store.context()
            try context.performAndWait {
                let nodes = Self.nodes(context)
                if isStored { try context.save() }
                context.processPendingChanges()
                let undo = UndoManager()
                context.undoManager = undo
                context.delete(nodes[0])
                context.refreshAllObjects()
                for node in nodes.dropLast() { context.delete(node) }
                context.refreshAllObjects()
                while undo.canUndo { undo.undo() }
                #expect(nodes.allSatisfy { !$0.isDeleted && $0.managedObjectContext === context })
                for node in nodes.dropLast() { context.delete(node) }
                context.refreshAllObjects()
                for node in nodes.dropLast() { context.delete(node) }
                try context.save()
            }
            #expect(try stored("Node", store, sort: "name").compactMap { $0.text("name") } == ["other"])
        }
    }

    @Test(arguments: StoreKind.allCases) func afterARollbackInsertionsAreGoneAndStoredObjectsAreNot(
        _ kind: StoreKind
    ) throws {
        for isStored in [false, true] {
            let store = try TestStore(kind, Self.model())
            let context = store.context()
            try context.performAndWait {
                let nodes = Self.nodes(context)
                if isStored { try context.save() }
                context.delete(nodes[0])
                context.refreshAllObjects()
                context.rollback()
                for node in nodes { context.delete(node) }
                #expect(context.deletedObjects.count == (isStored ? 5 : 0))
                context.refreshAllObjects()
                for node in nodes { context.delete(node) }
                try context.save()
            }
            #expect(try stored("Node", store, sort: "name").isEmpty)
        }
    }

    /// The row has gone meanwhile: the deletion is nobody's conflict.
    @Test(arguments: StoreKind.allCases, [false, true])
    func whatAnotherContextHasDeletedIsDeletedAgain(_ kind: StoreKind, _ isFault: Bool) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let nodes = Self.nodes(context)
            try context.save()
            if isFault { context.refreshAllObjects() }
            try other.performAndWait {
                other.delete(other.object(with: nodes[0].objectID))
                try other.save()
            }
            for _ in 0..<2 {
                for node in nodes.dropLast() { context.delete(node) }
                context.refreshAllObjects()
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            for node in nodes.dropLast() { context.delete(node) }
            try context.save()
        }
        #expect(try stored("Node", store, sort: "name").compactMap { $0.text("name") } == ["other"])
    }
}
