import Foundation
import StrataRuntime

/// Makes the dictionaries of many rows that have their values under the same names.
///
/// Foundation copies, casts and hashes each name of each dictionary, which takes longer than all else that is done for
/// a row. Here names are hashed once for all rows in which the same values are null.
///
/// Belongs to one thread: the names, which each dictionary retains, are its own.
struct DictionaryTemplate {
    private let names: [NSString]
    /// By the values that are not null, a bit each: the places of the values by name.
    private var placesByBits: [UInt64: [NSObject: Int]] = [:]
    /// Those of the last dictionary: most rows are like their neighbours.
    private var lastBits: UInt64 = 0
    private var lastPlaces: [NSObject: Int] = [:]

    /// More combinations of nulls are not kept.
    private static let combinationsMaximum = 64

    /// - Parameter names: of two that are the same, the last whose value is not null counts.
    init(_ names: [String]) { self.names = names.map { $0 as NSString } }

    /// - Parameter values: for each name its value; nil for null, which is left out.
    /// - Complexity: O(n) in the number of names.
    mutating func dictionary(_ values: [AnyObject?]) -> NSDictionary {
        precondition(values.count == names.count, "a value for each name")
        if let places = places(of: values),
            let made = DictionaryLayout.make(places.mapValues { values[$0].unsafelyUnwrapped })
        {
            return made
        }
        var (keys, objects) = ([NSObject](), [AnyObject]())
        for (name, value) in zip(names, values) {
            guard let value else { continue }
            keys.append(name)
            objects.append(value)
        }
        return objects.withUnsafeBufferPointer { objects in
            keys.withUnsafeBufferPointer { keys in
                NSDictionary(objects: objects.baseAddress, forKeys: keys.baseAddress, count: keys.count)
            }
        }
    }

    /// Nil for more combinations, or columns, than are kept.
    private mutating func places(of values: [AnyObject?]) -> [NSObject: Int]? {
        guard values.count <= UInt64.bitWidth else { return nil }
        var bits: UInt64 = 0
        for (index, value) in values.enumerated() where value != nil { bits |= 1 << UInt64(index) }
        if bits == lastBits { return lastPlaces }
        if let known = placesByBits[bits] {
            (lastBits, lastPlaces) = (bits, known)
            return known
        }
        guard placesByBits.count < Self.combinationsMaximum else { return nil }
        var places: [NSObject: Int] = [:]
        for (index, name) in names.enumerated() where bits >> UInt64(index) & 1 != 0 { places[name] = index }
        placesByBits[bits] = places
        (lastBits, lastPlaces) = (bits, places)
        return places
    }
}
