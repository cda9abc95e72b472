import Dispatch
import Foundation

/// Where a context's blocks run.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    private let isMain: Bool
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMain = type == .mainQueueConcurrencyType
        queue = isMain ? .main : DispatchQueue(label: "strata.context")
        if isMain {
            _ = Self.isMainQueueMarked
        } else {
            queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
        }
    }

    private static let mainKey = DispatchSpecificKey<Bool>()
    private static let isMainQueueMarked: Bool = {
        DispatchQueue.main.setSpecific(key: mainKey, value: true)
        return true
    }()

    /// Whether the caller runs on the main thread or, in a program whose main thread has been given to Dispatch, on the
    /// main queue.
    static var isOnMain: Bool {
        Thread.isMainThread || (isMainQueueMarked && DispatchQueue.getSpecific(key: mainKey) == true)
    }

    /// Whether the caller runs on this queue.
    var isCurrent: Bool {
        isMain ? Self.isOnMain : DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
    }

    private static let threadKey = "strata.context"

    /// The context whose `perform` or `performAndWait` the calling thread runs, if any.
    static var currentContext: NSManagedObjectContext? {
        Thread.current.threadDictionary[threadKey] as? NSManagedObjectContext
    }

    /// Makes the context the current one of this thread while the block runs.
    static func with<T>(_ context: NSManagedObjectContext, _ block: () -> T) -> T {
        let dictionary = Thread.current.threadDictionary
        let outer = dictionary[threadKey]
        dictionary[threadKey] = context
        defer { dictionary[threadKey] = outer }
        return block()
    }

    func async(_ block: @escaping () -> Void) {
        let box = UncheckedBox(block)
        queue.async { box.value() }
    }

    /// Runs the block on the queue and waits; at once when the caller is there already.
    func sync<T>(_ block: () -> T) -> T {
        if isCurrent { return block() }
        return withoutActuallyEscaping(block) { block in
            let box = UncheckedBox(block)
            let result: UncheckedBox<T> = queue.sync { UncheckedBox(box.value()) }
            return result.value
        }
    }
}

/// Carries a value to the queue that it is used on. Unchecked: the sender gives it up.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
