/// Carries a value to the queue that it is used on. Unchecked: the sender gives it up.
@frozen
package struct UncheckedBox<Value>: @unchecked Sendable {
    package let value: Value

    @inlinable
    package init(_ value: Value) {
        self.value = value
    }
}
