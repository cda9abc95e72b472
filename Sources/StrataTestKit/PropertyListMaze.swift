/// Binary property lists that are traps for their readers, for tests.
package enum PropertyListMaze {
    /// A dictionary whose value is a list that says another list twice, which says another one twice, and so on: a few
    /// hundred bytes, and 2^levels values.
    ///
    /// - Parameter key: of the dictionary; ASCII, of less than 256 characters.
    package static func shared(levels: Int, key: String = "a") -> [UInt8] {
        let key = Array(key.utf8)
        var objects: [[UInt8]] = [[0xD1, 1, 2], [0x5F, 0x10, UInt8(key.count)] + key]
        for level in 0..<levels { objects.append([0xA2, UInt8(level + 3), UInt8(level + 3)]) }
        objects.append([0x51, UInt8(ascii: "b")])
        return bytes(objects)
    }

    /// A dictionary whose value is a list of one list, and so on.
    package static func nested(levels: Int) -> [UInt8] {
        var objects: [[UInt8]] = [[0xD1] + big(1) + big(2), [0x51, UInt8(ascii: "a")]]
        for level in 0..<levels { objects.append([0xA1] + big(level + 3)) }
        objects.append([0x51, UInt8(ascii: "b")])
        return bytes(objects, referenceWidth: 4)
    }

    /// A dictionary whose value is a list that has itself in it.
    package static var circle: [UInt8] { bytes([[0xD1, 1, 2], [0x51, UInt8(ascii: "a")], [0xA1, 2]]) }

    private static func big(_ value: Int, _ width: Int = 4) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func bytes(_ objects: [[UInt8]], referenceWidth: UInt8 = 1) -> [UInt8] {
        var result = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(result.count)
            result += object
        }
        let table = result.count
        for offset in offsets { result += big(offset) }
        return result + [0, 0, 0, 0, 0, 0, 4, referenceWidth] + big(objects.count, 8) + big(0, 8) + big(table, 8)
    }
}
