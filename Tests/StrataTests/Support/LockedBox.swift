import Foundation

/// A value that threads share in a test.
final class LockedBox<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value
    init(_ value: Value) { stored = value }
    var value: Value { lock.withLock { stored } }
    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}
