import Foundation
import StrataSupport

/// What two requests have in common that are executed by the same plan: everything but the values of their constants.
///
/// Bytes, made by ``RequestShape``. Comparing two is comparing memory.
@frozen
@usableFromInline
package struct PlanKey: Hashable, Sendable {
    @usableFromInline let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    @inlinable
    package static func == (left: PlanKey, right: PlanKey) -> Bool {
        left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
