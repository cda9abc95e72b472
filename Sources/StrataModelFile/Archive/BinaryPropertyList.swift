import Foundation

/// A binary property list as a table of its objects, with the UIDs of keyed archives.
///
/// Foundation's reader gives no UIDs on Linux. This one checks every offset, length and reference before it uses it,
/// and takes no more memory than a small multiple of the file, so that a hostile file gets an error.
package struct BinaryPropertyList: Sendable {
    /// One object; what it contains is named by indexes into ``objects``.
    package enum Object: Sendable, Equatable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// A number that is greater than any of 64 bits with a sign.
        case unsigned(UInt64)
        case real(Double)
        /// Seconds since 2001-01-01.
        case date(Double)
        case data(Data)
        case string(String)
        case uid(Int)
        case array([Int])
        /// Keys and values in the order of the file.
        case dictionary(keys: [Int], values: [Int])
    }

    package private(set) var objects: [Object] = []
    package private(set) var root = 0

    private static let magic = Array("bplist0".utf8)
    private static let trailerByteCount = 32

    /// Whether bytes begin as binary property lists do.
    package static func isOne(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

    /// - Throws: ``ArchiveError`` for anything that is no sound binary property list.
    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        guard Self.isOne(bytes), bytes.count >= Self.magic.count + 1 + Self.trailerByteCount else {
            throw ArchiveError("it is no binary property list")
        }
        var reader = Reader(bytes: bytes, end: bytes.count - Self.trailerByteCount)
        let trailer = bytes.suffix(Self.trailerByteCount)
        let start = trailer.startIndex
        let offsetWidth = Int(trailer[start + 6])
        reader.referenceWidth = Int(trailer[start + 7])
        let count = try reader.integer(at: start + 8, width: 8, limit: bytes.count)
        root = try reader.integer(at: start + 16, width: 8, limit: bytes.count)
        let table = try reader.integer(at: start + 24, width: 8, limit: bytes.count)
        guard (1...8).contains(offsetWidth), (1...8).contains(reader.referenceWidth), count > 0, root < count,
            table <= reader.end, count <= (reader.end - table) / offsetWidth
        else { throw ArchiveError("its trailer is damaged") }
        reader.objectCount = count
        // Objects of a sound file do not overlap, so what they hold cannot be more than the file.
        reader.budget = bytes.count
        reader.end = table
        objects.reserveCapacity(count)
        for index in 0..<count {
            let offset = try reader.integer(
                at: table + index * offsetWidth, width: offsetWidth, limit: table)
            objects.append(try reader.object(at: offset))
        }
    }

    /// Reads single objects, within bounds.
    private struct Reader {
        let bytes: [UInt8]
        /// Where objects end.
        var end: Int
        var referenceWidth = 1
        var objectCount = 0
        /// How many more bytes objects may be made of.
        var budget = 0

        /// A big-endian number that must be less than `limit`, or equal to it.
        func integer(at offset: Int, width: Int, limit: Int) throws(ArchiveError) -> Int {
            guard offset >= 0, width > 0, offset <= bytes.count - width else {
                throw ArchiveError("a number lies outside of it")
            }
            var value: UInt64 = 0
            for byte in bytes[offset..<offset + width] {
                guard value >> 56 == 0 else { throw ArchiveError("a number is too large") }
                value = value << 8 | UInt64(byte)
            }
            guard value <= UInt64(limit) else { throw ArchiveError("an offset or a length leads outside of it") }
            return Int(value)
        }

        mutating func object(at offset: Int) throws(ArchiveError) -> Object {
            guard offset >= 8, offset < end else { throw ArchiveError("an object lies outside of it") }
            let marker = bytes[offset]
            let low = Int(marker & 0x0F)
            switch marker >> 4 {
            case 0x0:
                switch low {
                case 0x0, 0xF: return .null
                case 0x8: return .bool(false)
                case 0x9: return .bool(true)
                default: throw ArchiveError("an object has the unknown mark \(marker)")
                }
            case 0x1: return try number(at: offset + 1, width: 1 << low)
            case 0x2: return .real(try real(at: offset + 1, width: 1 << low))
            case 0x3 where low == 3: return .date(try real(at: offset + 1, width: 8))
            case 0x4: return .data(Data(bytes[try body(offset, low, width: 1)]))
            case 0x5:
                guard let text = String(validating: bytes[try body(offset, low, width: 1)], as: UTF8.self) else {
                    throw ArchiveError("a text is broken")
                }
                return .string(text)
            case 0x6:
                let body = try body(offset, low, width: 2)
                let units = stride(from: body.lowerBound, to: body.upperBound, by: 2).map {
                    UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
                }
                guard let text = String(validating: units, as: UTF16.self) else {
                    throw ArchiveError("a text is broken")
                }
                return .string(text)
            case 0x8:
                return .uid(try integer(at: offset + 1, width: low + 1, limit: Int(Int32.max)))
            case 0xA: return .array(try references(try body(offset, low, width: referenceWidth)))
            case 0xD:
                let body = try body(offset, low, width: 2 * referenceWidth)
                let all = try references(body)
                return .dictionary(keys: Array(all.prefix(all.count / 2)), values: Array(all.suffix(all.count / 2)))
            default: throw ArchiveError("an object has the unknown mark \(marker)")
            }
        }

        private func number(at offset: Int, width: Int) throws(ArchiveError) -> Object {
            let low = try signed(at: offset, width: width)
            guard width == 16 else { return .integer(low) }
            // Foundation writes so what is over Int64.max.
            let high = bytes[offset..<offset + 8]
            if high.allSatisfy({ $0 == 0 }) { return low < 0 ? .unsigned(UInt64(bitPattern: low)) : .integer(low) }
            guard high.allSatisfy({ $0 == 0xFF }), low < 0 else { throw ArchiveError("a number is too large") }
            return .integer(low)
        }

        private func signed(at offset: Int, width: Int) throws(ArchiveError) -> Int64 {
            guard width <= 16, offset <= end - width else { throw ArchiveError("a number lies outside of it") }
            // Of sixteen bytes the last eight.
            var value: UInt64 = 0
            for byte in bytes[offset..<offset + width].suffix(8) { value = value << 8 | UInt64(byte) }
            return Int64(bitPattern: value)
        }

        private func real(at offset: Int, width: Int) throws(ArchiveError) -> Double {
            guard width == 4 || width == 8, offset <= end - width else { throw ArchiveError("a number is damaged") }
            let bits = UInt64(bitPattern: try signed(at: offset, width: width))
            return width == 4 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
        }

        /// The bytes of an object of `low` elements, or of as many as the number after the mark says.
        private mutating func body(_ offset: Int, _ low: Int, width: Int) throws(ArchiveError) -> Range<Int> {
            var start = offset + 1
            var count = low
            if low == 0xF {
                guard start < end, bytes[start] >> 4 == 1, bytes[start] & 0x0F <= 3 else {
                    throw ArchiveError("the length of an object is damaged")
                }
                let lengthWidth = 1 << Int(bytes[start] & 0x0F)
                count = try integer(at: start + 1, width: lengthWidth, limit: end)
                start += 1 + lengthWidth
            }
            guard start <= end, count <= (end - start) / width else {
                throw ArchiveError("an object is longer than the file")
            }
            budget -= count * width
            guard budget >= 0 else { throw ArchiveError("its objects overlap") }
            return start..<start + count * width
        }

        private func references(_ body: Range<Int>) throws(ArchiveError) -> [Int] {
            var references: [Int] = []
            references.reserveCapacity(body.count / referenceWidth)
            for offset in stride(from: body.lowerBound, to: body.upperBound, by: referenceWidth) {
                references.append(try integer(at: offset, width: referenceWidth, limit: objectCount - 1))
            }
            return references
        }
    }
}

/// Why an archive could not be read.
package struct ArchiveError: Error, CustomStringConvertible, Equatable {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
