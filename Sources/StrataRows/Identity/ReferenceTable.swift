import Foundation
import StrataLog
import StrataSupport

/// Which key stands for which reference object of a custom store.
///
/// A custom store names its objects by anything it likes: numbers, texts, UUIDs. Object IDs hold a number, so every
/// reference object gets the next one when it is first mentioned. The table lives as long as the store's identity, so
/// that an ID means the same in every coordinator of the process.
package final class ReferenceTable: @unchecked Sendable {
    // Unchecked: reference objects are only kept, compared and handed back; the rest is in the mutex.

    private struct Space {
        var keys: [AnyHashable: UInt64] = [:]
        /// By key less one, as they were first given.
        var references: [Any] = []
    }

    private struct State {
        /// By root entity number.
        var spaces: [UInt16: Space] = [:]
        var model: StoredModel?
    }

    private let state = AdaptiveMutex<UncheckedBox<State>>(UncheckedBox(State()))

    package init() {}

    private func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try state.withLock { box in
            var value = box.value
            // Without a second reference the dictionaries are changed in place.
            box = UncheckedBox(State())
            defer { box = UncheckedBox(value) }
            return UncheckedBox(try body(&value))
        }.value
    }

    /// The model that entity numbers were given out for, kept so that they stay the same for later models.
    package var model: StoredModel? {
        get { withState { $0.model } }
        set { withState { $0.model = newValue } }
    }

    /// The key of a reference object, given out if it is new.
    package func key(root: UInt16, _ reference: Any) -> UInt64 {
        let name = Self.canonical(reference)
        return withState { state in
            if let key = state.spaces[root]?.keys[name] { return key }
            state.spaces[root, default: Space()].references.append(reference)
            let key = UInt64(state.spaces[root]?.references.count ?? 0)
            state.spaces[root]?.keys[name] = key
            return key
        }
    }

    /// The reference object that a key stands for; nil if the key was never given out.
    package func reference(root: UInt16, key: UInt64) -> Any? {
        withState { state in
            guard let space = state.spaces[root], key > 0, key <= UInt64(space.references.count) else { return nil }
            return space.references[Int(key) - 1]
        }
    }

    /// The key for what a URI says of a reference object: a text or a number, whichever is known; otherwise a number if
    /// it reads as one.
    package func key(root: UInt16, text: String) -> UInt64 {
        let number = Int64(text).flatMap { "\($0)" == text ? NSNumber(value: $0) : nil }
        let known = withState { state -> UInt64? in
            guard let keys = state.spaces[root]?.keys else { return nil }
            return keys[AnyHashable(text)] ?? number.flatMap { keys[Self.canonical($0)] }
        }
        return known ?? key(root: root, number ?? text as Any)
    }

    /// The same for a value in its Swift and in its Foundation form.
    private static func canonical(_ reference: Any) -> AnyHashable {
        switch reference {
        case let text as String: return AnyHashable(text)
        case let text as NSString: return AnyHashable(text as String)
        case let uuid as UUID: return AnyHashable(uuid)
        case let uuid as NSUUID: return AnyHashable(uuid as UUID)
        case let url as URL: return AnyHashable(url)
        case let data as Data: return AnyHashable(data)
        // Hashing an `NSDecimalNumber` overflows the stack on Linux. One that is an `Int64` equals that integer, as
        // numbers do.
        case let decimal as Decimal:
            return Int64("\(decimal)").map { AnyHashable(NSNumber(value: $0)) } ?? AnyHashable(decimal)
        case let number as NSNumber: return AnyHashable(number)
        case let other as AnyHashable: return other
        default:
            programmerError(
                "NSPersistentStore.objectID(for:withReferenceObject:)",
                "a reference object must be hashable, and a \(type(of: reference)) is not",
                "Use strings, numbers or UUIDs")
        }
    }
}
