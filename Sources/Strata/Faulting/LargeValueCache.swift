import Foundation
import StrataLog

/// The large texts and data that a context's objects have lately been asked for.
///
/// A value that is stored out of its row is read from a file, checked, decompressed and copied: for a property that is
/// read again and again that is most of the work. A location never gets other bytes, so what is kept is right as long
/// as some row refers to it; nothing need be dropped when an object changes.
///
/// Belongs to the context's queue.
struct LargeValueCache {
    static let maximumCount = 4
    /// Of all that is kept; larger values are read each time.
    static let maximumByteCount = 4 * 1024 * 1024

    private struct Entry {
        var location: ExternalValue
        var storeIndex: UInt16
        /// A text or data: each program has one type for a property, in general.
        var value: Any
    }

    /// The oldest first.
    private var entries: [Entry] = []
    private var byteCount = 0

    /// The value at a location, if it was kept as one of this type.
    func value<Value>(at location: ExternalValue, _ storeIndex: UInt16) -> Value? {
        for entry in entries where entry.location == location && entry.storeIndex == storeIndex {
            if let value = entry.value as? Value { return value }
        }
        return nil
    }

    /// Keeps a text or data, in place of the oldest ones if there are too many. Other values are not kept, nor those of
    /// transactions that are not written yet.
    mutating func keep<Value>(_ value: Value, at location: ExternalValue, _ storeIndex: UInt16) {
        guard Value.self == String.self || Value.self == Data.self, location.pendingNumber == nil,
            location.byteCount <= Self.maximumByteCount
        else { return }
        entries.append(Entry(location: location, storeIndex: storeIndex, value: value))
        byteCount += Int(location.byteCount)
        while entries.count > Self.maximumCount || byteCount > Self.maximumByteCount {
            byteCount -= Int(entries.removeFirst().location.byteCount)
        }
    }

    /// Forgets everything.
    mutating func removeAll() { self = LargeValueCache() }
}
