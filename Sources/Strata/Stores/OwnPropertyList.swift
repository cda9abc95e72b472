import Foundation

/// Reads the binary property list that a store's metadata is, as long as nothing but Strata's own entries is in it.
///
/// Foundation reads property lists into objects of Core Foundation and then bridges each of them. The first time in a
/// process that costs a millisecond, for which Swift's runtime searches the conformances of everything that is linked,
/// and opening a store begins with its metadata. What a program keeps there may be any property list; that is left to
/// Foundation, and so is whatever looks unusual.
struct OwnPropertyList {
    private let bytes: [UInt8]
    private let offsetByteCount: Int
    private let referenceByteCount: Int
    private let objectCount: Int
    private let offsets: Int
    /// How many objects may still be read: in a list that is no circle and no maze, each takes a byte at least.
    private var allowance: Int

    private static let magic = Array("bplist00".utf8)
    private static let trailerByteCount = 32
    private static let depthMaximum = 8
    private static let objectMaximumCount = 1 << 20

    /// The entries; nil when there are others than Strata's own, and for everything that this does not read.
    static func entries(_ bytes: [UInt8]) -> [String: Any]? {
        guard var list = OwnPropertyList(bytes), let entries = list.top() as? [String: Any],
            entries.keys.allSatisfy({ $0.hasPrefix(StoreMetadata.privatePrefix) })
        else { return nil }
        return entries
    }

    private init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.magic.count + Self.trailerByteCount, bytes.starts(with: Self.magic) else {
            return nil
        }
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerByteCount
        offsetByteCount = Int(bytes[trailer + 6])
        referenceByteCount = Int(bytes[trailer + 7])
        guard let count = Self.integer(bytes, trailer + 8, 8), let offsets = Self.integer(bytes, trailer + 24, 8),
            count <= Self.objectMaximumCount, (1...8).contains(offsetByteCount), (1...8).contains(referenceByteCount),
            offsets <= trailer, count * offsetByteCount <= trailer - offsets
        else { return nil }
        objectCount = count
        self.offsets = offsets
        allowance = bytes.count
    }

    private mutating func top() -> Any? {
        guard let number = Self.integer(bytes, bytes.count - 16, 8) else { return nil }
        return object(number, depth: 0)
    }

    /// A big-endian number without sign; nil when it lies outside or is too large.
    private static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, count >= 1, count <= 8, offset <= bytes.count - count else { return nil }
        var value: UInt64 = 0
        for index in offset..<offset + count { value = value << 8 | UInt64(bytes[index]) }
        return Int(exactly: value)
    }

    private mutating func object(_ number: Int, depth: Int) -> Any? {
        allowance -= 1
        guard allowance >= 0, number < objectCount, depth < Self.depthMaximum,
            let offset = Self.integer(bytes, offsets + number * offsetByteCount, offsetByteCount),
            offset < bytes.count
        else { return nil }
        let marker = bytes[offset]
        if marker >> 4 == 0x1 {
            // Of eight bytes they have a sign, and of sixteen they are too large.
            guard marker & 0xF <= 3, let value = Self.integer(bytes, offset + 1, 1 << Int(marker & 0xF)) else {
                return nil
            }
            return NSNumber(value: value)
        }
        guard let (count, start) = length(offset) else { return nil }
        switch marker >> 4 {
        case 0x5:
            guard count <= bytes.count - start else { return nil }
            return String(validating: bytes[start..<start + count], as: Unicode.ASCII.self)
        case 0xA:
            guard let references = references(count, start) else { return nil }
            var list: [Any] = []
            for reference in references {
                guard let element = object(reference, depth: depth + 1) else { return nil }
                list.append(element)
            }
            return list
        case 0xD:
            guard count <= objectCount, let references = references(2 * count, start) else { return nil }
            var entries: [String: Any] = [:]
            for index in 0..<count {
                guard let key = object(references[index], depth: depth + 1) as? String,
                    let value = object(references[count + index], depth: depth + 1)
                else { return nil }
                entries[key] = value
            }
            return entries
        default: return nil
        }
    }

    /// How long what begins at an offset is, and where its contents begin.
    private func length(_ offset: Int) -> (count: Int, start: Int)? {
        let short = Int(bytes[offset] & 0xF)
        guard short == 0xF else { return (short, offset + 1) }
        guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 0x1, bytes[offset + 1] & 0xF <= 3 else { return nil }
        let byteCount = 1 << Int(bytes[offset + 1] & 0xF)
        return Self.integer(bytes, offset + 2, byteCount).map { ($0, offset + 2 + byteCount) }
    }

    private func references(_ count: Int, _ start: Int) -> [Int]? {
        guard count <= 2 * objectCount, count * referenceByteCount <= bytes.count - start else { return nil }
        var references: [Int] = []
        for index in 0..<count {
            guard let reference = Self.integer(bytes, start + index * referenceByteCount, referenceByteCount) else {
                return nil
            }
            references.append(reference)
        }
        return references
    }
}
