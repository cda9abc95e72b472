import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Random requests over random objects, each found by the planner's choice, by way of indexes or without any, and by
/// the interpreter, which goes from row to row: the same results in the same order.
///
/// 24,000 requests and twice as many comparisons in release, which `make test` runs; a few in debug.
@Suite struct PlanSweepTests {
    private static let seeds = RandomRuns.seeds(from: 100, count: BuildMode.isDebug ? 1 : 8)
    private static let requests = RandomRuns.operations(BuildMode.isDebug ? 500 : 3_000)
    private static let total = LockedBox((requests: 0, comparisons: 0))

    @Test(arguments: seeds) func everyWayFindsTheSame(_ seed: UInt64) throws {
        let kind = StoreKind.allCases[Int(seed % 2)]
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, try PlanModel.model())
        let context = store.context()
        var run = PlanRun()
        try context.performAndWait {
            var world = try PlanWorld(context, &random)
            for number in 0..<Self.requests {
                if number % 25 == 24 {
                    world.change(1 + random.below(8), &random)
                    if random.chance(0.4) { try context.save() }
                    // Rows instead of objects with values are what most fetches meet.
                    if random.chance(0.2) { context.refreshAllObjects() }
                }
                let request = PlanRequests(world: world).request(&random)
                do {
                    try run.compare(request, world, &random)
                } catch {
                    Issue.record("seed \(seed), request \(number), \(request): \(error)")
                    return
                }
            }
        }
        Self.total.change {
            $0.requests += run.requests
            $0.comparisons += run.comparisons
        }
        let total = Self.total.value
        print(
            "PlanSweepTests: \(kind), seed \(seed): \(run); so far \(total.requests) requests, "
                + "\(total.comparisons) comparisons")
        #expect(run.indexed > Self.requests / 10 && run.compiled > Self.requests / 4)
        #expect(run.found > Self.requests / 2)
    }
}

/// Counts what one run compared.
struct PlanRun: CustomStringConvertible {
    private(set) var requests = 0
    private(set) var comparisons = 0
    /// Requests that an index can answer, and those of which at least a part is compiled.
    private(set) var indexed = 0
    private(set) var compiled = 0
    /// Requests with results.
    private(set) var found = 0

    var description: String {
        "\(requests) requests, \(comparisons) comparisons, \(indexed) by index, \(compiled) compiled, \(found) with results"
    }

    /// What a request gave, in a form that compares.
    enum Outcome: Equatable {
        case ids([NSManagedObjectID])
        case rows([[String]])
        case number(Int)

        init(_ results: [Any]) {
            if let objects = results as? [NSManagedObject] {
                self = .ids(objects.map(\.objectID))
            } else if let ids = results as? [NSManagedObjectID] {
                self = .ids(ids)
            } else if let rows = results as? [NSDictionary] {
                self = .rows(rows.map(Self.flat))
            } else {
                self = .number((results.first as? NSNumber)?.intValue ?? -1)
            }
        }

        /// Numbers that were added in another order may differ in their last digits, and of equal zeros any may be met.
        private static func flat(_ dictionary: NSDictionary) -> [String] {
            dictionary.map { key, value in "\(key): \(plain(value))" }.sorted()
        }

        private static func plain(_ value: Any) -> String {
            if let values = value as? [Any] { return "\(values.map(plain))" }
            return (value as? Double).map { "\(Float($0) + 0)" } ?? "\(value)"
        }

        var count: Int {
            switch self {
            case .ids(let ids): ids.count
            case .rows(let rows): rows.count
            case .number(let number): number
            }
        }
    }

    mutating func compare(
        _ request: PlanRequests.Request, _ world: PlanWorld, _ random: inout SeededGenerator
    ) throws {
        let context = world.context
        let expected = try CompiledExecution.setting.withValue(false) { Outcome(try context.fetch(request)) }
        let chosen = Outcome(try context.fetch(request))
        #expect(chosen == expected, "as planned: \(text(request))")
        let use = random.chance(0.6) ? IndexUse.always : .never
        let end = random.chance(0.5) ? SemiJoinUse.members : .owners
        let other = try IndexUse.setting.withValue(use) {
            try SemiJoinUse.setting.withValue(end) { Outcome(try context.fetch(request)) }
        }
        #expect(other == expected, "\(use), \(end): \(text(request))")
        comparisons += 2
        if random.chance(0.25) {
            let count = try context.count(for: request)
            #expect(count == expected.count, "count: \(text(request))")
            comparisons += 1
        }
        if random.chance(0.1) { try compareWithObjects(request, world) }
        requests += 1
        found += expected.count > 0 ? 1 : 0
        if requests % 20 == 0 {
            let explanation = try IndexUse.setting.withValue(.always) { try context.explain(request) }
            indexed += explanation.index == nil ? 0 : 20
            compiled += explanation.path == .interpretedScan ? 0 : 20
        }
    }

    /// Each object is asked for its values, with what SQL says of null.
    private mutating func compareWithObjects(_ request: PlanRequests.Request, _ world: PlanWorld) throws {
        guard !world.context.hasChanges, let predicate = request.predicate, let name = request.entityName,
            ThreeValues.knows(predicate)
        else { return }
        let objects: [NSManagedObject]
        switch name {
        case "Owner": objects = world.owners
        case "Tag": objects = world.tags
        case "Thing":
            objects = world.things.filter { request.includesSubentities || $0.entity.name == "Thing" }
        default: objects = world.things.filter { $0.entity.name == name }
        }
        let all = NSFetchRequest<NSManagedObject>(entityName: name)
        all.predicate = predicate
        all.includesSubentities = request.includesSubentities
        let found = Set(try world.context.fetch(all))
        let expected = Set(objects.filter { ThreeValues.answer(predicate, $0) == true })
        #expect(found == expected, "objects: \(predicate.formatString)")
        comparisons += 1
    }

    private func text(_ request: PlanRequests.Request) -> String {
        let sorts = request.sortDescriptors?.map { "\($0.key ?? "") \($0.ascending)" } ?? []
        let columns = request.propertiesToFetch?.map { column in
            (column as? NSExpressionDescription)?.expression?.description ?? "\(column)"
        }
        return "\(request.entityName ?? ""): \(request.predicate?.formatString ?? "-"), sorted \(sorts), "
            + "limit \(request.fetchLimit), offset \(request.fetchOffset), type \(request.resultType.rawValue), "
            + "pending \(request.includesPendingChanges), subentities \(request.includesSubentities), "
            + "columns \(columns ?? []), groups \(request.propertiesToGroupBy ?? []), "
            + "having \(request.havingPredicate?.formatString ?? "-"), distinct \(request.returnsDistinctResults)"
    }
}
