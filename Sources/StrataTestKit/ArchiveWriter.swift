import Foundation

/// Writes keyed archives as Apple's compilers do, for tests to read.
package final class ArchiveWriter {
    package indirect enum Node {
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case data(Data)
        case uid(Int)
        case array([Node])
        case dictionary([(String, Node)])
    }

    private var objects: [Node] = [.string("$null")]
    private var classes: [String: Int] = [:]

    package init() {}

    package func add(_ node: Node) -> Node {
        objects.append(node)
        return .uid(objects.count - 1)
    }

    package func string(_ text: String) -> Node { add(.string(text)) }

    private func type(_ name: String) -> Node {
        if let known = classes[name] { return .uid(known) }
        let names = [name, "NSObject"].map { Node.string($0) }
        guard case .uid(let uid) = add(.dictionary([("$classname", .string(name)), ("$classes", .array(names))])) else {
            return .uid(0)
        }
        classes[name] = uid
        return .uid(uid)
    }

    package func object(_ name: String, _ fields: [(String, Node)]) -> Node {
        add(.dictionary(fields + [("$class", type(name))]))
    }

    /// A place for an object that others refer to before it is written.
    package func reserve() -> Int {
        objects.append(.string(""))
        return objects.count - 1
    }

    package func fill(_ index: Int, _ name: String, _ fields: [(String, Node)]) {
        objects[index] = .dictionary(fields + [("$class", type(name))])
    }

    package func list(_ nodes: [Node], _ name: String = "NSArray") -> Node {
        object(name, [("NS.objects", .array(nodes))])
    }

    package func dictionary(_ entries: [(String, Node)]) -> Node {
        let keys = entries.map { string($0.0) }
        return object("NSMutableDictionary", [("NS.keys", .array(keys)), ("NS.objects", .array(entries.map(\.1)))])
    }

    package func bytes(root: Node) -> [UInt8] {
        BinaryWriter.bytes(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
                ("$top", .dictionary([("root", root)])), ("$objects", .array(objects)),
            ]))
    }

    /// Binary property lists.
    private struct BinaryWriter {
        private var encoded: [[UInt8]] = []

        static func bytes(_ root: Node) -> [UInt8] {
            var writer = BinaryWriter()
            let top = writer.add(root)
            var result = Array("bplist00".utf8)
            var offsets: [Int] = []
            for object in writer.encoded {
                offsets.append(result.count)
                result += object
            }
            let table = result.count
            for offset in offsets { result += big(offset, 4) }
            return result + [0, 0, 0, 0, 0, 0, 4, 2] + big(offsets.count, 8) + big(top, 8) + big(table, 8)
        }

        private static func big(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        private static func mark(_ kind: UInt8, _ count: Int) -> [UInt8] {
            count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 0xF, 0x11] + big(count, 2)
        }

        private mutating func add(_ node: Node) -> Int {
            let index = encoded.count
            encoded.append([])
            switch node {
            case .bool(let value): encoded[index] = [value ? 9 : 8]
            case .integer(let value): encoded[index] = [0x13] + Self.big(Int(value), 8)
            case .real(let value): encoded[index] = [0x23] + Self.big(Int(bitPattern: UInt(value.bitPattern)), 8)
            case .string(let text):
                if text.utf8.allSatisfy({ $0 < 0x80 }) {
                    encoded[index] = Self.mark(5, text.utf8.count) + Array(text.utf8)
                } else {
                    encoded[index] = Self.mark(6, text.utf16.count) + text.utf16.flatMap { Self.big(Int($0), 2) }
                }
            case .data(let data): encoded[index] = Self.mark(4, data.count) + Array(data)
            case .uid(let uid): encoded[index] = [0x81] + Self.big(uid, 2)
            case .array(let nodes):
                let references = nodes.map { add($0) }
                encoded[index] = Self.mark(0xA, nodes.count) + references.flatMap { Self.big($0, 2) }
            case .dictionary(let entries):
                let keys = entries.map { add(.string($0.0)) }
                let values = entries.map { add($0.1) }
                encoded[index] = Self.mark(0xD, entries.count) + (keys + values).flatMap { Self.big($0, 2) }
            }
            return index
        }
    }
}
