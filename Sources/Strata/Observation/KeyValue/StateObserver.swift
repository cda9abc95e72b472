import Foundation
import Synchronization

/// Is told when what a context says of itself may have changed.
protocol StateObserver: AnyObject, Sendable {
    func check(_ context: NSManagedObjectContext)
}

/// Calls the handler of one observation of a context.
final class ContextObserver<Context: NSManagedObjectContext, Value>: StateObserver, @unchecked Sendable {
    // Unchecked: only used on the context's queue, but for `hasEnded`, which is atomic.
    typealias Handler = (Context, NSKeyValueObservedChange<Value>) -> Void

    private let keyPath: KeyPath<Context, Value>
    private let options: NSKeyValueObservingOptions
    private let handler: Handler
    private var last: Value
    private let hasEnded = Atomic<Bool>(false)

    init(
        _ context: Context, _ keyPath: KeyPath<Context, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping Handler
    ) {
        self.keyPath = keyPath
        self.options = options
        self.handler = handler
        last = context[keyPath: keyPath]
    }

    /// Calls the handler no more.
    func end() { hasEnded.store(true, ordering: .releasing) }

    func check(_ context: NSManagedObjectContext) {
        guard !hasEnded.load(ordering: .acquiring), let context = context as? Context else { return }
        let (old, new) = (last, context[keyPath: keyPath])
        guard old as? AnyHashable != new as? AnyHashable else { return }
        last = new
        handler(
            context,
            NSKeyValueObservedChange(
                newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
    }
}

extension NSManagedObjectContext {
    /// Tells those who observe the context that its lists of changes may be others now.
    @inline(__always)
    final func stateMayHaveChanged() {
        if !stateObservers.isEmpty { tellStateObservers() }
    }

    @inline(never)
    private final func tellStateObservers() {
        for observer in stateObservers { observer.check(self) }
    }
}
