public import Synchronization

/// Where a description keeps what it was compiled to. What is kept is freed only by an owner that says so.
///
/// `AtomicLazyReference` does the same with some 650 instructions a load, one of which is needed for every object.
@frozen @usableFromInline
package struct CompiledReference<Value: AnyObject>: ~Copyable, @unchecked Sendable {
    // Unchecked: set once, atomically; what it points to is Sendable by its own rules.
    @usableFromInline let address = Atomic<UInt>(0)

    @inlinable @inline(__always)
    package init() {}

    @inlinable @inline(__always)
    package func load() -> Value? {
        guard let pointer = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return nil }
        return Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// As ``load()`` without counting a reference: what is kept stays.
    @inlinable @inline(__always)
    package func loadReference() -> Unmanaged<Value>? {
        UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { .fromOpaque($0) }
    }

    /// Gives up what is kept: for an owner that goes.
    package func release() {
        guard let pointer = UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring)) else { return }
        Unmanaged<Value>.fromOpaque(pointer).release()
    }

    /// Keeps the value, for ever, unless there is one already. Returns the one that is kept.
    package func storeIfNil(_ value: Value) -> Value {
        let retained = Unmanaged.passRetained(value)
        let (isStored, _) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
        if isStored { return value }
        retained.release()
        return load() ?? value
    }
}
