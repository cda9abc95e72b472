import Foundation

/// What reading a property list may take.
package struct PropertyListLimits: Sendable {
    /// Longer files are not read.
    package var byteCount: Int
    /// How deep lists and dictionaries may lie in each other.
    package var depth: Int

    package init(byteCount: Int = 64 << 20, depth: Int = 128) {
        self.byteCount = byteCount
        self.depth = depth
    }
}

/// Property lists of others: Strata's own reader for the binary form, and for the XML form Foundation's, once the text
/// is known to be no trap.
///
/// A binary property list may say one list in many places, and that list another one: 600 bytes become more values than
/// there is memory for, and everything that walks over them (Foundation's reader is the first) does not come back. What
/// a file may become is bounded by its own length: each value takes at least a byte in the list that it is in, so that
/// a file with more values than bytes has lists or dictionaries in several places. Foundation writes none such.
///
/// Opening a store begins with its metadata, which is in the binary form. Foundation would read that into objects of
/// Core Foundation and bridge each: the first time in a process that costs a millisecond, in which Swift's runtime
/// searches the conformances of all that is linked.
package enum PropertyListFile {
    /// The value in a file: texts, data, dates, numbers, lists and dictionaries with texts for keys, of the types that
    /// Foundation's reader makes of them.
    ///
    /// - Throws: ``ArchiveError`` for what is no property list, is damaged, or exceeds the limits.
    /// - Complexity: O(n) in the bytes.
    package static func value(_ data: Data, _ limits: PropertyListLimits = PropertyListLimits()) throws -> Any {
        try check(length: data.count, limits)
        return try value([UInt8](data), limits)
    }

    private static func value(_ bytes: [UInt8], _ limits: PropertyListLimits) throws -> Any {
        guard BinaryPropertyList.isOne(bytes) else {
            try PropertyListText.check(bytes, limits)
            do {
                return try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
            } catch {
                throw ArchiveError("it is no property list")
            }
        }
        let list = try bounded(bytes, limits)
        return try value(list, list.root)
    }

    /// The dictionary in a file. Throws as ``value(_:_:)`` does, and for another value.
    package static func dictionary(
        _ data: Data, _ limits: PropertyListLimits = PropertyListLimits()
    ) throws -> [String: Any] {
        try check(length: data.count, limits)
        return try dictionary([UInt8](data), limits)
    }

    /// As ``dictionary(_:_:)-(Data,_)``, for bytes that are at hand.
    package static func dictionary(
        _ bytes: [UInt8], _ limits: PropertyListLimits = PropertyListLimits()
    ) throws -> [String: Any] {
        try check(length: bytes.count, limits)
        guard let list = try value(bytes, limits) as? [String: Any] else {
            throw ArchiveError("the property list is no dictionary")
        }
        return list
    }

    /// Makes sure that Foundation comes to an end with a file: before its decoders and unarchivers, which read for
    /// themselves, are given one.
    ///
    /// - Throws: ``ArchiveError`` as ``value(_:_:)`` does.
    package static func check(_ data: Data, _ limits: PropertyListLimits = PropertyListLimits()) throws {
        try check(length: data.count, limits)
        let bytes = [UInt8](data)
        guard BinaryPropertyList.isOne(bytes) else { return try PropertyListText.check(bytes, limits) }
        _ = try bounded(bytes, limits)
    }

    private static func check(length: Int, _ limits: PropertyListLimits) throws {
        guard length <= limits.byteCount else {
            throw ArchiveError("a property list of \(length) bytes is too long: \(limits.byteCount) are read")
        }
    }

    private static func bounded(_ bytes: [UInt8], _ limits: PropertyListLimits) throws -> BinaryPropertyList {
        let list = try BinaryPropertyList(bytes)
        var measure = PropertyListMeasure(list, depthMaximum: limits.depth, valueMaximum: bytes.count)
        try measure.run()
        return list
    }

    /// As often as the list says a value, which has been measured, as its depth has.
    private static func value(_ list: BinaryPropertyList, _ index: Int) throws -> Any {
        switch list.objects[index] {
        case .null, .uid: throw ArchiveError("a value is of no kind that a property list has")
        case .bool(let value): return value
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .real(let value): return NSNumber(value: value)
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): return value
        case .string(let value): return value
        case .array(let indices):
            var values: [Any] = []
            values.reserveCapacity(indices.count)
            for index in indices { values.append(try value(list, index)) }
            return values
        case .dictionary(let keys, let indices):
            var values: [String: Any] = [:]
            values.reserveCapacity(keys.count)
            for (key, index) in zip(keys, indices) {
                guard case .string(let name) = list.objects[key] else {
                    throw ArchiveError("a key of a dictionary is no text")
                }
                values[name] = try value(list, index)
            }
            return values
        }
    }
}

/// How many values a binary property list becomes, and how deep they lie in each other.
struct PropertyListMeasure {
    private let list: BinaryPropertyList
    private let depthMaximum: Int
    private let valueMaximum: Int
    /// By object: how many values it becomes, itself counted; 0 while that is not known.
    private var counts: [Int]
    private var depths: [Int]
    private var isOpen: [Bool]

    init(_ list: BinaryPropertyList, depthMaximum: Int, valueMaximum: Int) {
        self.list = list
        self.depthMaximum = depthMaximum
        self.valueMaximum = valueMaximum
        counts = [Int](repeating: 0, count: list.objects.count)
        depths = counts
        isOpen = [Bool](repeating: false, count: list.objects.count)
    }

    /// - Throws: ``ArchiveError`` for a list that leads back into itself, and for one that exceeds the limits.
    mutating func run() throws(ArchiveError) { try measure(list.root, below: depthMaximum) }

    private mutating func measure(_ index: Int, below limit: Int) throws(ArchiveError) {
        if counts[index] > 0 {
            guard depths[index] <= limit else { throw Self.tooDeep }
            return
        }
        let parts: [[Int]]
        switch list.objects[index] {
        case .array(let indices): parts = [indices]
        case .dictionary(let keys, let values): parts = [keys, values]
        default:
            counts[index] = 1
            return
        }
        guard limit > 0 else { throw Self.tooDeep }
        guard !isOpen[index] else { throw ArchiveError("the property list leads back into itself") }
        isOpen[index] = true
        var count = 1
        var depth = 0
        for list in parts {
            for part in list {
                try measure(part, below: limit - 1)
                count += counts[part]
                depth = max(depth, depths[part])
                guard count <= valueMaximum else {
                    throw ArchiveError("the property list becomes more values than it has bytes")
                }
            }
        }
        isOpen[index] = false
        counts[index] = count
        depths[index] = depth + 1
    }

    private static let tooDeep = ArchiveError("lists of the property list are nested too deeply")
}
