import Synchronization

/// A setting that only tests change, for what they run within a scope: a task local value that costs one load until
/// somebody changes it. To look up a task's values takes a hundred instructions.
package final class ScopedSetting<Value: Sendable>: Sendable {
    private let usual: Value
    private let local: TaskLocal<Value>
    private let hasBeenChanged = Atomic(false)

    package init(_ usual: Value) {
        self.usual = usual
        local = TaskLocal(wrappedValue: usual)
    }

    package var value: Value { hasBeenChanged.load(ordering: .relaxed) ? local.get() : usual }

    /// Runs a closure, and the tasks that it makes, with another value.
    package func withValue<Result>(_ value: Value, _ body: () throws -> Result) rethrows -> Result {
        hasBeenChanged.store(true, ordering: .relaxed)
        return try local.withValue(value, operation: body)
    }
}
