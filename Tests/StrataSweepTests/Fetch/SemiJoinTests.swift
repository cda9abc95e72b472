import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Conditions on the members of to-many relationships: compiled from either end against the interpreter, which goes
/// from row to row.
@Suite struct SemiJoinTests {
    private static let seeds = RandomRuns.seeds(from: 1, count: BuildMode.isDebug ? 1 : 3)
    private static let requests = RandomRuns.operations(BuildMode.isDebug ? 120 : 800)

    private enum Outcome: Equatable {
        case ids([NSManagedObjectID])
        case number(Int)
        case values([Int64?])
    }

    /// A request in one of its forms.
    private static func run(
        _ predicate: NSPredicate, _ entity: String, _ form: Int, _ context: NSManagedObjectContext
    ) throws -> Outcome {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.predicate = predicate
        request.includesPendingChanges = form % 2 == 0
        switch form / 2 {
        case 0: return .number(try context.count(for: request))
        case 1:
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["key"]
            let rows = try context.fetch(request) as? [NSDictionary] ?? []
            return .values(rows.map { ($0["key"] as? NSNumber)?.int64Value })
        case 2:
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: form % 3 == 0)]
            request.fetchLimit = 10
        case 3:
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        default: break
        }
        request.resultType = .managedObjectIDResultType
        return .ids(try context.fetch(request) as? [NSManagedObjectID] ?? [])
    }

    @Test(arguments: StoreKind.allCases, seeds) func bothEndsAgreeWithTheInterpreter(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        let hasSubentity = seed % 2 == 0
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: hasSubentity))
        let context = store.context()
        try context.performAndWait {
            var world = try SemiJoinWorld(
                context, hasSubentity: hasSubentity, count: seed % 3 == 1 ? 250 : 60, &random)
            for number in 0..<Self.requests {
                if number % 20 == 19 {
                    world.change(1 + random.below(10), &random)
                    if random.chance(0.5) { try context.save() }
                    if random.chance(0.3) { context.refreshAllObjects() }
                }
                let predicate = SemiJoinPredicates(nodes: world.nodes).predicate(&random)
                let entity = hasSubentity && random.chance(0.2) ? "SpecialNode" : "Node"
                let form = random.below(10)
                let expected = try CompiledExecution.setting.withValue(false) {
                    try Self.run(predicate, entity, form, context)
                }
                let index = random.chance(0.3) ? IndexUse.always : .automatic
                for use in [SemiJoinUse.automatic, .members, .owners] {
                    let found = try IndexUse.setting.withValue(index) {
                        try SemiJoinUse.setting.withValue(use) { try Self.run(predicate, entity, form, context) }
                    }
                    #expect(found == expected, "seed \(seed), \(use), form \(form): \(predicate.formatString)")
                }
            }
        }
    }

    // MARK: Shapes

    /// 2,000 nodes in rings and lists of known shape.
    private func filled(_ context: NSManagedObjectContext, count: Int = 2_000) throws -> [NSManagedObject] {
        let nodes = (0..<count).map { index in
            let node = insert("Node", context)
            node.setValue(index, forKey: "key")
            node.setValue("n\(index)", forKey: "name")
            node.setValue(index % 10, forKey: "size")
            node.setValue(index % 7, forKey: "big")
            node.setValue(Double(index % 100), forKey: "ratio")
            return node
        }
        for (index, node) in nodes.enumerated() where index > 0 {
            // A tree of ten children each, and a chain of followers of three.
            node.setValue(nodes[index / 10], forKey: "parent")
            node.setValue(nodes[(index / 20) * 20], forKey: "owner")
            node.setValue(NSSet(array: (1...3).map { nodes[(index + $0) % count] }), forKey: "follows")
            if index % 5 == 0 { node.setValue(NSSet(object: nodes[index / 5]), forKey: "loose") }
            if index % 4 == 0 { node.setValue(NSOrderedSet(array: [nodes[0], nodes[index - 1]]), forKey: "queue") }
            if index % 3 == 0 { node.setValue(NSSet(object: nodes[index / 3]), forKey: "friends") }
        }
        try context.save()
        return nodes
    }

    /// Each with the relationships that lead to its rows.
    private static let shapes: [(format: String, relationship: String)] = [
        ("ANY follows.name == 'n77'", "follows"), ("ANY follows.name BEGINSWITH[c] 'N77'", "follows"),
        ("ANY follows.size > 8", "follows"), ("ALL follows.size > 6", "follows"), ("NONE follows.size > 6", "follows"),
        ("NOT (ANY follows.size == 3)", "follows"), ("ANY follows.size IN {1, 2}", "follows"),
        ("ANY follows.size BETWEEN {1, 2}", "follows"), ("ANY follows.name LIKE '*99'", "follows"),
        ("ANY follows == $node", "follows"), ("follows CONTAINS $node", "follows"), ("$node IN follows", "follows"),
        ("ANY follows IN $nodes", "follows"), ("follows.name CONTAINS 'n77'", "follows"),
        ("'n77' IN follows.name", "follows"), ("ANY children.name == 'n77'", "children"),
        ("children.@count == 0", "children"), ("children.@count < 3", "children"), ("children.@count != 0", "children"),
        ("3 <= children.@count", "children"), ("SUBQUERY(children, $x, $x.size > 5).@count >= 2", "children"),
        ("SUBQUERY(follows, $x, $x.size == 3 AND $x.name ENDSWITH '3').@count > 0", "follows"),
        ("SUBQUERY(children, $x, SUBQUERY($x.follows, $y, $y.size == 1).@count > 0).@count == 3", "children"),
        ("children.@sum.size > 40", "children"), ("children.@avg.ratio > 40", "children"),
        ("children.@max.big == 6", "children"), ("ANY children.size > ratio", "children"),
        ("ANY follows.big <= big", "follows"), ("follows.@min.size == 7", "follows"),
        ("ANY items.name == 'n77'", "items"), ("queue.@count == 2", "queue"), ("ANY queue.name == 'n99'", "queue"),
        ("ANY friends.name == 'n77'", "friends"), ("friends.@count == 2", "friends"), ("ANY loose.size == 3", "loose"),
        ("loose.@count == 1", "loose"), ("ANY children.follows.name == 'n77'", "children"),
        ("ANY parent.follows.name == 'n77'", "follows"), ("parent.children.@count == 10", "children"),
        ("size == 4 AND ANY follows.name == 'n77'", "follows"), ("key == 76 AND ANY follows.name == 'n77'", "follows"),
        ("key BETWEEN {70, 80} AND ANY children.size > 5", "children"),
        ("ANY follows.name == 'n77' OR ANY children.name == 'n77'", "children"),
        ("ANY follows.name == 'n77' AND ANY children.size == 1", "children"),
    ]

    @Test(arguments: StoreKind.allCases) func eachShapeIsCompiled(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            let nodes = try filled(context)
            for shape in Self.shapes {
                let predicate = NSPredicate(format: shape.format).withSubstitutionVariables([
                    "node": nodes[77], "nodes": [nodes[77], nodes[99]],
                ])
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Node")
                request.resultType = .managedObjectIDResultType
                request.predicate = predicate
                let explanation = try context.explain(request)
                #expect(explanation.rowsInterpreted == 0, "\(shape.format)")
                #expect(explanation.path < .partlyCompiledScan, "\(shape.format): \(explanation.path)")
                #expect(
                    explanation.semiJoins.contains { $0.hasPrefix(shape.relationship + " from ") },
                    "\(shape.format): \(explanation.semiJoins)")
                #expect(explanation.results > 0 && explanation.results < 2_000, "\(shape.format)")
                let ids = try context.fetch(request)
                let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                #expect(ids == expected, "\(shape.format)")
                #expect(try context.count(for: request) == expected.count, "\(shape.format)")
            }
        }
    }

    /// Members lead to few owners, which alone are looked at; an index that gives a few owners has theirs asked.
    @Test(arguments: StoreKind.allCases) func explanationsSayFromWhichEnd(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            _ = try filled(context)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
            request.predicate = NSPredicate(format: "ANY follows.name == 'n77'")
            var explanation = try context.explain(request)
            #expect(explanation.path == .semiJoin && explanation.semiJoins == ["follows from members"])
            #expect(explanation.rowsTested == 0 && explanation.results == 3)
            #expect(explanation.description.contains("path: semi-join, follows from members"))
            request.predicate = NSPredicate(format: "ANY follows.name == 'n77' AND size == 6")
            explanation = try context.explain(request)
            #expect(explanation.path == .semiJoin && explanation.rowsTested == 3 && explanation.results == 1)
            request.predicate = NSPredicate(format: "key BETWEEN {70, 76} AND ANY follows.name == 'n77'")
            explanation = try context.explain(request)
            #expect(explanation.path == .orderedIndex && explanation.index == "Node.byKey")
            #expect(explanation.semiJoins == ["follows from owners"] && explanation.results == 3)
            request.predicate = NSPredicate(format: "children.@count == 0 AND size < 9")
            explanation = try context.explain(request)
            #expect(explanation.path == .compiledScan && explanation.semiJoins == ["children from members"])
            request.predicate = NSPredicate(format: "ANY follows.name == 'n77' AND name MATCHES '.*6'")
            explanation = try context.explain(request)
            #expect(explanation.path == .semiJoin && explanation.rowsInterpreted == 3 && explanation.results == 1)
            request.predicate = NSPredicate(format: "SUBQUERY(follows, $x, $x.size == size).@count > 0")
            #expect(try context.explain(request).path == .interpretedScan)
            request.predicate = NSPredicate(format: "NONE follows.name == 'nobody'")
            explanation = try context.explain(request)
            #expect(explanation.rowsInterpreted == 0 && explanation.results == 2_000)
            // The first of many in the order of an index: those are read that come first.
            request.predicate = NSPredicate(format: "ANY children.size == 1")
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            request.fetchLimit = 5
            explanation = try IndexUse.setting.withValue(.always) { try context.explain(request) }
            #expect(explanation.path == .orderedIndex && explanation.semiJoins == ["children from members"])
            let keys = try context.fetch(request).map { $0.value(forKey: "key") as? Int }
            #expect(keys == [0, 1, 2, 3, 4])
        }
    }

    /// Where no object behind a to-one relationship satisfies the condition, no row is looked at.
    @Test(
        arguments: StoreKind.allCases,
        [
            "parent.size > 1000000", "NOT (parent.size <= 1000000)",
            "NOT (parent.size < 1000000 OR parent.name == 'nobody')",
            "NOT (parent.parent.size <= 1000000) AND size >= 0",
        ])
    func conditionsBehindToOneRelationshipsThatNothingSatisfiesTestNoRow(_ kind: StoreKind, _ format: String) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            _ = try filled(context)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
            request.predicate = NSPredicate(format: format)
            let explanation = try context.explain(request)
            #expect(explanation.rowsTested == 0 && explanation.results == 0, "\(explanation)")
        }
    }

    // MARK: Neighbours

    /// Unsaved links, links that are taken away, and members' changes, in the context and in a child of it.
    @Test(arguments: StoreKind.allCases) func unsavedChangesCount(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            let nodes = try filled(context, count: 300)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
            request.predicate = NSPredicate(format: "ANY follows.name == 'n77'")
            #expect(Set(try context.fetch(request)) == Set(nodes[74...76]))
            nodes[75].setValue(NSSet(), forKey: "follows")
            nodes[9].mutableSetValue(forKey: "follows").add(nodes[77])
            let fresh = insert("Node", context)
            fresh.setValue(NSSet(object: nodes[77]), forKey: "follows")
            let expected: Set<NSManagedObject> = [nodes[74], nodes[76], nodes[9], fresh]
            #expect(Set(try context.fetch(request)) == expected)
            #expect(try context.count(for: request) == 4)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            let count = try child.performAndWait { try child.count(for: request) }
            #expect(count == 4)
            request.includesPendingChanges = false
            #expect(Set(try context.fetch(request)) == Set(nodes[74...76]))
            try context.save()
            #expect(Set(try context.fetch(request)) == expected)
            nodes[77].setValue("other", forKey: "name")
            try context.save()
            #expect(try context.fetch(request).isEmpty)
            context.delete(nodes[77])
            try context.save()
            request.predicate = NSPredicate(format: "follows.@count == 2")
            #expect(Set(try context.fetch(request)).isSuperset(of: [nodes[74], nodes[76]]))
        }
    }

    /// A relationship without inverse keeps links to objects that are gone; they are no members.
    @Test(arguments: StoreKind.allCases) func deletedMembersOfLooseRelationshipsDoNotCount(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            let nodes = try filled(context, count: 300)
            context.delete(nodes[20])
            try context.save()
            for use in [SemiJoinUse.automatic, .members, .owners] {
                try SemiJoinUse.setting.withValue(use) {
                    for format in [
                        "loose.@count == 0", "loose.@count == 1", "ANY loose.name == 'n20'", "ANY loose != nil",
                    ] {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
                        request.predicate = NSPredicate(format: format)
                        let found = try context.fetch(request)
                        let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                        #expect(found == expected, "\(use): \(format)")
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func batchRequestsFindMembers(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try SemiJoinModel.model(hasSubentity: false))
        let context = store.context()
        try context.performAndWait {
            _ = try filled(context, count: 300)
            let update = NSBatchUpdateRequest(entityName: "Node")
            update.predicate = NSPredicate(format: "ANY follows.name == 'n77'")
            update.propertiesToUpdate = ["size": 99]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Node")
            fetch.predicate = NSPredicate(format: "ANY followers.size == 99 AND key >= 77")
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 3)
        }
    }

    @Test func pinnedContextsSeeTheMembersOfTheirGeneration() throws {
        let store = try TestStore(.log, try SemiJoinModel.model(hasSubentity: false))
        let (context, reader) = (store.context(), store.context())
        let nodes = try context.performAndWait { UncheckedTransfer(try filled(context, count: 300)) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "ANY follows.name == 'n77'")
        try reader.performAndWait {
            try reader.setQueryGenerationFrom(.current)
            #expect(try reader.count(for: request) == 3)
        }
        try context.performAndWait {
            nodes.value[75].setValue(NSSet(), forKey: "follows")
            try context.save()
            #expect(try context.count(for: request) == 2)
        }
        try reader.performAndWait {
            #expect(try reader.count(for: request) == 3)
            try reader.setQueryGenerationFrom(nil)
            #expect(try reader.count(for: request) == 2)
        }
    }
}

/// Objects handed from one closure to another, which run one after the other.
private struct UncheckedTransfer<Value>: @unchecked Sendable {
    // Unchecked: the closures run one after the other on the context's queue.
    let value: Value

    init(_ value: Value) { self.value = value }
}
