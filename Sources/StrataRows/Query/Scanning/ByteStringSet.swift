import Foundation
import StrataSupport

/// A set of byte strings that is asked without making a string: an open hash table over one stretch of bytes.
package struct ByteStringSet: Sendable {
    private struct Entry: Sendable {
        var hash: UInt64
        var start: Int
        var count: Int
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// Index of an entry plus one, 0 for an empty place. A power of two, at least twice as long as `entries`.
    private var table: [UInt32] = [0, 0]

    package init() {}

    package init(_ strings: some Sequence<[UInt8]>) {
        for string in strings { _ = string.withUnsafeBytes { insert($0) } }
    }

    package var count: Int { entries.count }

    /// In the order in which they were inserted.
    package var strings: [[UInt8]] { entries.map { Array(bytes[$0.start..<$0.start + $0.count]) } }

    /// Calls the body with a string, by its position.
    func withString<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let entry = entries[index]
        return try bytes.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[entry.start..<entry.start + entry.count]))
        }
    }

    /// The position of a string among those that were inserted.
    @inline(__always)
    package func index(of string: UnsafeRawBufferPointer) -> Int? {
        let hash = Self.hash(string)
        let probing = Probing(capacity: table.count)
        let bucket = probing.first(from: probing.home(hash)) { bucket in
            guard table[bucket] != 0 else { return true }
            let entry = entries[Int(table[bucket]) - 1]
            return entry.hash == hash && isEqual(entry, string)
        }
        return table[bucket] == 0 ? nil : Int(table[bucket]) - 1
    }

    package func contains(_ string: UnsafeRawBufferPointer) -> Bool { index(of: string) != nil }

    /// The position of a string, which is added if it is new.
    package mutating func insert(_ string: UnsafeRawBufferPointer) -> Int {
        if let known = index(of: string) { return known }
        if (entries.count + 1) * 2 > table.count { grow() }
        let entry = Entry(hash: Self.hash(string), start: bytes.count, count: string.count)
        bytes.append(contentsOf: string)
        entries.append(entry)
        place(entry.hash, entries.count)
        return entries.count - 1
    }

    private mutating func grow() {
        table = Array(repeating: 0, count: table.count * 4)
        for (index, entry) in entries.enumerated() { place(entry.hash, index + 1) }
    }

    private mutating func place(_ hash: UInt64, _ number: Int) {
        let probing = Probing(capacity: table.count)
        table[probing.first(from: probing.home(hash)) { table[$0] == 0 }] = UInt32(number)
    }

    @inline(__always)
    private func isEqual(_ entry: Entry, _ string: UnsafeRawBufferPointer) -> Bool {
        guard entry.count == string.count else { return false }
        guard let start = string.baseAddress, entry.count > 0 else { return true }
        return bytes.withUnsafeBytes { own in
            guard let base = own.baseAddress else { return false }
            return memcmp(base + entry.start, start, entry.count) == 0
        }
    }

    /// Eight bytes at a time, mixed by a 128-bit product.
    @inline(__always)
    private static func hash(_ string: UnsafeRawBufferPointer) -> UInt64 {
        var hash = Hashing.spread(UInt64(string.count)) ^ 0xA076_1D64_78BD_642F
        var offset = 0
        while offset + 8 <= string.count {
            hash = Hashing.fold(hash ^ string.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < string.count {
            rest = rest << 8 | UInt64(string[offset])
            offset += 1
        }
        return Hashing.fold(hash ^ rest)
    }
}
