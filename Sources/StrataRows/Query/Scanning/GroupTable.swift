import StrataLog
import StrataSupport

/// Numbers the combinations of group values in the order in which they are first seen.
///
/// A combination is a code and a null bit for each column; codes of strings number the strings.
package struct GroupTable {
    private let width: Int
    /// `width` codes for each group, and a word of null bits.
    package private(set) var codes: [UInt64] = []
    package private(set) var nulls: [UInt64] = []
    /// Group plus one by hash; a power of two, at least twice as long as there are groups.
    private var table: [UInt32] = [UInt32](repeating: 0, count: 64)
    /// Group plus one by code, of a single column's codes that lie close to the base; as long as those seen so far need
    /// it.
    private var direct: [UInt32] = []
    /// Taken from the first code: references have their entity in the upper bits.
    private var base: UInt64?
    private static let directMaximum = 1 << 14
    private static let directMinimum = 64

    package init(width: Int) {
        self.width = width
    }

    package var count: Int { nulls.count }

    package func codes(of group: Int) -> ArraySlice<UInt64> { codes[group * width..<(group + 1) * width] }

    /// The group of a row by one column.
    @inline(__always)
    package mutating func group(_ code: UInt64) -> Int {
        let base = base ?? code & ~ObjectRef.maximumKey
        self.base = base
        let offset = code &- base
        if offset < UInt64(direct.count) {
            let known = direct[Int(offset)]
            if known != 0 { return Int(known) - 1 }
        }
        let group = withUnsafePointer(to: code) { find(UnsafeBufferPointer(start: $0, count: 1), nulls: 0) }
        if offset < UInt64(Self.directMaximum) { remember(group, at: Int(offset)) }
        return group
    }

    private mutating func remember(_ group: Int, at offset: Int) {
        if offset >= direct.count {
            // A power of two.
            let count = max(Self.directMinimum, 1 << (Int.bitWidth - offset.leadingZeroBitCount))
            direct.append(contentsOf: repeatElement(0, count: count - direct.count))
        }
        direct[offset] = UInt32(group + 1)
    }

    /// The groups of many rows by one column.
    @inline(__always)
    package mutating func groups(
        _ count: Int, into groups: UnsafeMutableBufferPointer<Int32>, code: (Int) -> UInt64
    ) {
        if count == 0 { return }
        let base = base ?? code(0) & ~ObjectRef.maximumKey
        self.base = base
        var position = 0
        while position < count {
            // Groups that are known, without writing to the table.
            direct.withUnsafeBufferPointer { direct in
                while position < count {
                    let offset = code(position) &- base
                    guard offset < UInt64(direct.count) else { return }
                    let known = direct[Int(offset)]
                    if known == 0 { return }
                    groups[position] = Int32(bitPattern: known) &- 1
                    position += 1
                }
            }
            if position == count { return }
            groups[position] = Int32(group(code(position)))
            position += 1
        }
    }

    /// The group of a combination, which is added if it is new. Codes of null are 0.
    package mutating func find(_ key: UnsafeBufferPointer<UInt64>, nulls keyNulls: UInt64) -> Int {
        let probing = Probing(capacity: table.count)
        let bucket = probing.first(from: probing.home(Self.hash(key, keyNulls))) { bucket in
            guard table[bucket] != 0 else { return true }
            let group = Int(table[bucket]) - 1
            return nulls[group] == keyNulls && isEqual(group, key)
        }
        if table[bucket] != 0 { return Int(table[bucket]) - 1 }
        codes.append(contentsOf: key)
        nulls.append(keyNulls)
        table[bucket] = UInt32(nulls.count)
        if nulls.count * 2 > table.count { grow() }
        return nulls.count - 1
    }

    private func isEqual(_ group: Int, _ key: UnsafeBufferPointer<UInt64>) -> Bool {
        for index in 0..<width where codes[group * width + index] != key[index] { return false }
        return true
    }

    private mutating func grow() {
        table = [UInt32](repeating: 0, count: table.count * 4)
        let probing = Probing(capacity: table.count)
        for group in 0..<nulls.count {
            let hash: UInt64 = codes.withUnsafeBufferPointer { codes in
                let range = group * width..<(group + 1) * width
                return Self.hash(UnsafeBufferPointer(rebasing: codes[range]), nulls[group])
            }
            table[probing.first(from: probing.home(hash)) { table[$0] == 0 }] = UInt32(group + 1)
        }
    }

    private static func hash(_ key: UnsafeBufferPointer<UInt64>, _ nulls: UInt64) -> UInt64 {
        var hash = nulls &* 0xA076_1D64_78BD_642F
        for code in key {
            hash = Hashing.fold(hash ^ code ^ 0x9E37_79B9_7F4A_7C15)
        }
        return hash
    }
}
