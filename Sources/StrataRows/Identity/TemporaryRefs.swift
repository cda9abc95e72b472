import Foundation
import StrataLog
import Synchronization

/// The keys of objects that have not been saved: unique in the process, with entity number 0.
package enum TemporaryRefs {
    private static let counter = Atomic<UInt64>(1)
    private static let base = UUID()

    package static func next() -> ObjectRef {
        ObjectRef(rawValue: counter.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    /// A UUID for the URI of a temporary ID: the process's own, with the key in its last six bytes.
    package static func uuidString(_ ref: ObjectRef) -> String {
        let digits = String(ref.key, radix: 16, uppercase: true)
        let tail = String(repeating: "0", count: 12 - digits.count) + digits
        return base.uuidString.prefix(24) + tail
    }
}
