import CoreData
import Foundation
import Testing

/// A line of contexts over one store: the first works on the coordinator, each of the others on the one before.
final class ContextLine {
    let store: TestStore
    let contexts: [NSManagedObjectContext]

    init(_ kind: StoreKind, depth: Int = 2, model: NSManagedObjectModel = GraphModel.company()) throws {
        store = try TestStore(kind, model)
        var contexts = [store.context()]
        while contexts.count < depth { contexts.append(Self.child(of: contexts[contexts.count - 1])) }
        self.contexts = contexts
    }

    var root: NSManagedObjectContext { contexts[0] }
    var child: NSManagedObjectContext { contexts[1] }

    static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.parent = parent
        return context
    }

    /// Saves one context after the other, the last one first.
    func saveAll() throws {
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
    }
}

/// Notes the notifications of one name from one context.
final class SaveRecorder: @unchecked Sendable {
    // Unchecked: the tests that use it wait for whoever posts.

    private(set) var infos: [[AnyHashable: Any]] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, _ context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
            [unowned self] in infos.append($0.userInfo ?? [:])
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }

    /// The names of the employees under a key of the last notification.
    func names(_ key: String) -> Set<String> {
        let objects = infos.last?[key] as? Set<NSManagedObject> ?? []
        return Set(objects.compactMap { ($0 as? Employee)?.name })
    }
}

extension NSManagedObjectContext {
    /// As `performAndWait`, for blocks that throw nothing outside of expectations.
    func check(_ body: () throws -> Void) throws { try performAndWait(body) }

    /// The names of all employees that a fetch finds here.
    func employeeNames(_ predicate: NSPredicate? = nil) throws -> [String] {
        try fetchAll(Employee.self, "Employee", self, predicate, sort: "name").map(\.name)
    }
}
