import CoreData
import Dispatch
import Foundation
import Synchronization
import Testing

/// An object is deleted to which other contexts save references without a pause.
///
/// Each attempt found new ones, and took longer than the one before, since there were more of them: the deletion came
/// only when the others had stopped.
@Suite(.serialized) struct OvertakenDeletionTests {
    private static let writers = 4
    /// Many times what is saved until a deletion that the others wait for is through.
    private static let maximumSaves = 30_000

    private final class Progress: Sendable {
        let saves = Atomic<Int>(0)
        let failures = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)

        var goesOn: Bool { !isOver.load(ordering: .relaxed) && saves.load(ordering: .relaxed) < maximumSaves }
    }

    @Test(arguments: StoreKind.allCases, [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule])
    func theDeletionGetsThrough(_ kind: StoreKind, _ rule: NSDeleteRule) throws {
        let (parent, child) = (GraphModel.entity("Parent"), GraphModel.entity("Child"))
        let children = GraphModel.relationship("children", to: child, toMany: true, rule: rule)
        let parentOf = GraphModel.relationship("parent", to: parent)
        GraphModel.link(children, parentOf)
        parent.properties = [children]
        child.properties = [parentOf]
        let model = NSManagedObjectModel()
        model.entities = [parent, child]
        let store = try TestStore(kind, model)
        let context = store.context()
        let id = try context.performAndWait {
            let parent = insert("Parent", context)
            try context.save()
            return parent.objectID
        }
        let progress = Progress()
        let group = DispatchGroup()
        for _ in 0..<Self.writers {
            let context = store.context()
            group.enter()
            Thread {
                while progress.goesOn {
                    context.performAndWait {
                        insert("Child", context).setValue(context.object(with: id), forKey: "parent")
                        do {
                            try context.save()
                            progress.saves.add(1, ordering: .relaxed)
                        } catch {
                            progress.failures.add(1, ordering: .relaxed)
                        }
                        context.reset()
                    }
                }
                group.leave()
            }.start()
        }
        while progress.saves.load(ordering: .relaxed) < Self.writers { Thread.sleep(forTimeInterval: 0.001) }
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.delete(context.object(with: id))
            try context.save()
        }
        let saves = progress.saves.load(ordering: .relaxed)
        progress.isOver.store(true, ordering: .relaxed)
        group.wait()
        #expect(saves < Self.maximumSaves)
        let fresh = store.context()
        try fresh.performAndWait {
            let left = try fetchAll(NSManagedObject.self, "Child", fresh)
            #expect(left.allSatisfy { $0.value(forKey: "parent") == nil })
            if rule == .nullifyDeleteRule { #expect(left.count >= saves) } else { #expect(left.isEmpty) }
        }
    }
}
