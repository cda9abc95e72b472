import CoreData
import Foundation
import Testing

/// Stores with many rows, and predicates that do something at a certain row.
enum LimitsFixture {
    /// Employees "n0", "n1" and so on, whose ages go from 0 to 89 and begin again.
    static func filled(_ kind: StoreKind, _ count: Int) throws -> TestStore {
        let store = try TestStore(kind)
        try insert(count, into: store.context())
        return store
    }

    static func insert(_ count: Int, into context: NSManagedObjectContext) throws {
        var next = 0
        let request = NSBatchInsertRequest(entityName: "Employee") { (values: NSMutableDictionary) in
            if next == count { return true }
            values["name"] = "n\(next)"
            values["age"] = next % 90
            next += 1
            return false
        }
        _ = try context.performAndWait { try context.execute(request) }
    }

    static func count(_ entity: String, _ context: NSManagedObjectContext, _ format: String? = nil) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return try context.performAndWait { try context.count(for: request) }
    }
}

/// Counts, and calls a body at a certain number. Used on one thread at a time.
final class Trigger: @unchecked Sendable {
    private let lock = NSLock()
    private var counted = 0
    private let number: Int
    private let body: @Sendable () -> Void

    init(at number: Int, _ body: @escaping @Sendable () -> Void) {
        self.number = number
        self.body = body
    }

    var count: Int { lock.withLock { counted } }

    func step() {
        let isReached = lock.withLock {
            counted += 1
            return counted == number
        }
        if isReached { body() }
    }

    /// Is true for every object.
    var predicate: NSPredicate {
        NSPredicate { _, _ in
            self.step()
            return true
        }
    }
}

/// Cancels a task, which may not have been made yet.
final class Canceller: @unchecked Sendable {
    private let lock = NSLock()
    private var action: (@Sendable () -> Void)?
    private var isCancelled = false

    func cancel() {
        let action = lock.withLock {
            isCancelled = true
            return self.action
        }
        action?()
    }

    func set<Value, Failure>(_ task: Task<Value, Failure>) {
        let isLate = lock.withLock {
            action = { task.cancel() }
            return isCancelled
        }
        if isLate { task.cancel() }
    }
}

/// Says that it has been cancelled from the so-manieth question on.
final class PatientProgress: Progress, @unchecked Sendable {
    private let lock = NSLock()
    private var questions = 0
    private let patience: Int

    init(patience: Int) {
        self.patience = patience
        super.init(parent: nil, userInfo: nil)
    }

    override var isCancelled: Bool {
        get {
            lock.withLock {
                questions += 1
                return questions >= patience
            }
        }
        set {}
    }

    var questionCount: Int { lock.withLock { questions } }
}

/// Carries what a test knows to be used rightly.
struct Carried<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Waits until something holds. What never does ends with the test run's own time limit.
func waitUntil(_ condition: () -> Bool) {
    while !condition() { usleep(200) }
}

/// As ``waitUntil(_:)``, without keeping one of the few threads that tasks share.
func eventually(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}

/// A task that waits for a block of a context.
func inTask<T: Sendable>(
    _ context: NSManagedObjectContext, _ block: @escaping () throws -> T
) -> Task<T, any Error> {
    let carried = Carried((context, block))
    return Task { try await carried.value.0.perform(carried.value.1) }
}
