import CoreData
import Foundation
import StrataTestKit
import Synchronization
import Testing

/// A limit of time, and a cancellation, hold whatever a single row costs.
@Suite(.serialized) struct WorkLimitTests {
    /// What takes minutes or years for one row.
    enum Slow: String, CaseIterable, Sendable {
        case backtracking, like, likeCaseless, subqueries, friendsOfFriends

        var predicate: NSPredicate {
            switch self {
            case .backtracking: NSPredicate(format: "name MATCHES '(a{1,30}){1,30}b'")
            case .like: NSPredicate(format: "name LIKE %@", "*" + String(repeating: "a", count: 50_000) + "?b*c")
            case .likeCaseless:
                NSPredicate(format: "name LIKE[cd] %@", "*" + String(repeating: "a", count: 50_000) + "?b*c")
            case .subqueries: NSPredicate(format: Self.nested)
            case .friendsOfFriends:
                NSPredicate(format: "SUBQUERY(friends, $a, \(Self.nested.replacing("$v", with: "$w"))).@count == 0")
            }
        }

        private static var nested: String {
            var text = "$v9.age == 77"
            for level in (0..<10).reversed() {
                let owner = level == 0 ? "friends" : "$v\(level - 1).friends"
                text = "SUBQUERY(\(owner), $v\(level), \(text)).@count > 0 AND SELF.age < 1000"
            }
            return text
        }
    }

    private static let limit = Duration.milliseconds(150)
    /// Far from what the requests would take, and from what a busy machine makes of milliseconds.
    private static let longest = Duration.seconds(10)

    private static func filled(_ kind: StoreKind, saving: Bool = true) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let all = (0..<12).map { index in
                let employee = insert("Employee", context)
                employee.setValue(String(repeating: "a", count: 120_000), forKey: "name")
                employee.setValue(index, forKey: "age")
                return employee
            }
            for employee in all { employee.setValue(NSSet(array: all), forKey: "friends") }
            if saving { try context.save() }
        }
        return store
    }

    private static func request(_ slow: Slow, _ limit: Duration? = limit) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = slow.predicate
        request.timeLimit = limit
        return request
    }

    private static func expectTimeout(_ what: String, _ body: () throws -> Void) {
        let began = ContinuousClock.now
        #expect { try body() } throws: { ($0 as NSError).code == 134090 }
        #expect(ContinuousClock.now - began < longest, "\(what) took too long")
    }

    @Test(arguments: StoreKind.allCases, Slow.allCases)
    func fetchesAndCountsEndInTheMiddleOfARow(_ kind: StoreKind, _ slow: Slow) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        context.performAndWait {
            Self.expectTimeout("fetch") { _ = try context.fetch(Self.request(slow)) }
            Self.expectTimeout("count") { _ = try context.count(for: Self.request(slow)) }
        }
    }

    @Test(arguments: Slow.allCases) func unsavedObjectsAndChildrenEnd(_ slow: Slow) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        context.performAndWait {
            let all = (0..<12).map { _ in
                let employee = insert("Employee", context)
                employee.setValue(String(repeating: "a", count: 120_000), forKey: "name")
                return employee
            }
            for employee in all { employee.setValue(NSSet(array: all), forKey: "friends") }
            Self.expectTimeout("fetch") { _ = try context.fetch(Self.request(slow)) }
            Self.expectTimeout("count") { _ = try context.count(for: Self.request(slow)) }
        }
        child.performAndWait {
            Self.expectTimeout("fetch of a child") { _ = try child.fetch(Self.request(slow)) }
            Self.expectTimeout("count of a child") { _ = try child.count(for: Self.request(slow)) }
        }
    }

    @Test(arguments: StoreKind.allCases) func dictionariesGroupsAndBatchesEnd(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let slow = NSExpressionDescription()
        slow.name = "slow"
        slow.expression = NSExpression(
            forConditional: Slow.subqueries.predicate, trueExpression: NSExpression(forConstantValue: 1),
            falseExpression: NSExpression(forConstantValue: 2))
        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(format: "count:(age)")
        context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.timeLimit = Self.limit
            request.propertiesToFetch = [slow]
            Self.expectTimeout("dictionaries") { _ = try context.fetch(request) }
            request.returnsDistinctResults = true
            Self.expectTimeout("distinct dictionaries") { _ = try context.fetch(request) }
            request.propertiesToFetch = ["name", total]
            request.propertiesToGroupBy = ["name"]
            request.havingPredicate = Slow.backtracking.predicate
            Self.expectTimeout("groups") { _ = try context.fetch(request) }
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.propertiesToUpdate = ["age": slow.expression as Any]
            update.timeLimit = Self.limit
            Self.expectTimeout("an update by an expression") { _ = try context.execute(update) }
            update.propertiesToUpdate = ["age": 1_000]
            update.predicate = Slow.backtracking.predicate
            Self.expectTimeout("an update with a predicate") { _ = try context.execute(update) }
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
            delete.fetchRequest.predicate = Slow.subqueries.predicate
            delete.timeLimit = Self.limit
            Self.expectTimeout("a delete") { _ = try context.execute(delete) }
        }
        #expect(try LimitsFixture.count("Employee", context) == 12)
        #expect(try LimitsFixture.count("Employee", context, "age == 1000") == 0)
    }

    /// The one row took longer than the request may, and nothing came after it that would have asked.
    @Test(arguments: StoreKind.allCases) func aRowThatIsTooLateIsTooLate(_ kind: StoreKind) throws {
        let store = try LimitsFixture.filled(kind, 1)
        let context = store.context()
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.timeLimit = .milliseconds(30)
            let began = ContinuousClock.now
            request.predicate = NSPredicate { _, _ in
                while ContinuousClock.now - began < .milliseconds(60) {}
                return true
            }
            Self.expectTimeout("a block") { _ = try context.fetch(request) }
        }
    }

    /// Blocks were asked for sixteen rows before anybody looked at the clock.
    @Test(arguments: StoreKind.allCases, [true, false])
    func nothingIsAskedOfABlockAfterTheLimit(_ kind: StoreKind, _ isSaved: Bool) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try context.performAndWait {
            for index in 0..<12 { insert("Employee", context).setValue(index, forKey: "age") }
            if isSaved { try context.save() }
        }
        let slow: @Sendable () -> Void = {
            let began = ContinuousClock.now
            while ContinuousClock.now - began < .milliseconds(40) {}
        }
        let calls = LockedBox(0)
        let block = NSPredicate { _, _ in
            calls.change { $0 += 1 }
            slow()
            return true
        }
        let expression = NSExpression(
            block: { _, _, _ in
                calls.change { $0 += 1 }
                slow()
                return 1
            }, arguments: nil)
        let comparison = NSComparisonPredicate(
            leftExpression: expression, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
            type: .equalTo)
        for target in [context, child] {
            for predicate in [block, comparison, NSCompoundPredicate(notPredicateWithSubpredicate: block)] {
                target.performAndWait {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
                    request.predicate = predicate
                    request.timeLimit = .milliseconds(20)
                    calls.change { $0 = 0 }
                    Self.expectTimeout("a fetch") { _ = try target.fetch(request) }
                    #expect(calls.value == 1, "\(predicate)")
                    calls.change { $0 = 0 }
                    Self.expectTimeout("a count") { _ = try target.count(for: request) }
                    #expect(calls.value == 1, "\(predicate)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func anAsynchronousFetchThatIsCancelledLateEnds(_ kind: StoreKind, _ isSaved: Bool) async throws {
        let store = try Self.filled(kind, saving: isSaved)
        let context = store.context()
        if !isSaved {
            context.performAndWait {
                insert("Employee", context).setValue(String(repeating: "a", count: 100), forKey: "name")
            }
        }
        let began = ContinuousClock.now
        // The test itself may have to wait for a thread.
        let (code, ended): (Int?, ContinuousClock.Instant) = await withCheckedContinuation { continuation in
            let request = NSAsynchronousFetchRequest(fetchRequest: Self.request(.backtracking, nil)) { result in
                continuation.resume(returning: ((result.operationError as NSError?)?.code, .now))
            }
            context.performAndWait {
                do {
                    let result = try context.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>
                    let progress = result?.progress
                    Thread.detachNewThread {
                        Thread.sleep(forTimeInterval: 0.2)
                        progress?.cancel()
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(code == 3072)
        #expect(ended - began < Self.longest)
    }

    @Test func aCancelledTaskEndsInTheMiddleOfARow() async throws {
        let store = try Self.filled(.log)
        let context = store.context()
        // The test itself may have to wait for a thread.
        let ended = Mutex<ContinuousClock.Instant?>(nil)
        let task = Task {
            try await context.perform {
                defer { ended.withLock { $0 = .now } }
                return try context.fetch(Self.request(.backtracking, nil)).count
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        let cancelled = ContinuousClock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Cancelled before its turn, it never began.
        if let ended = ended.withLock({ $0 }) { #expect(ended - cancelled < Self.longest) }
    }
}
