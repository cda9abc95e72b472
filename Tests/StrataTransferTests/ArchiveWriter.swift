import Foundation

/// Writes keyed archives as Apple's compilers do, for tests to read.
final class ArchiveWriter {
    indirect enum Node {
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

    func add(_ node: Node) -> Node {
        objects.append(node)
        return .uid(objects.count - 1)
    }

    func string(_ text: String) -> Node { add(.string(text)) }

    private func type(_ name: String) -> Node {
        if let known = classes[name] { return .uid(known) }
        let names = [name, "NSObject"].map { Node.string($0) }
        guard case .uid(let uid) = add(.dictionary([("$classname", .string(name)), ("$classes", .array(names))])) else {
            return .uid(0)
        }
        classes[name] = uid
        return .uid(uid)
    }

    func object(_ name: String, _ fields: [(String, Node)]) -> Node {
        add(.dictionary(fields + [("$class", type(name))]))
    }

    /// A place for an object that others refer to before it is written.
    func reserve() -> Int {
        objects.append(.string(""))
        return objects.count - 1
    }

    func fill(_ place: Int, _ name: String, _ fields: [(String, Node)]) {
        objects[place] = .dictionary(fields + [("$class", type(name))])
    }

    func list(_ nodes: [Node], _ name: String = "NSArray") -> Node { object(name, [("NS.objects", .array(nodes))]) }

    func dictionary(_ entries: [(String, Node)]) -> Node {
        let keys = entries.map { string($0.0) }
        return object("NSMutableDictionary", [("NS.keys", .array(keys)), ("NS.objects", .array(entries.map(\.1)))])
    }

    func bytes(root: Node) -> [UInt8] {
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
            let place = encoded.count
            encoded.append([])
            switch node {
            case .bool(let value): encoded[place] = [value ? 9 : 8]
            case .integer(let value): encoded[place] = [0x13] + Self.big(Int(value), 8)
            case .real(let value): encoded[place] = [0x23] + Self.big(Int(bitPattern: UInt(value.bitPattern)), 8)
            case .string(let text):
                if text.utf8.allSatisfy({ $0 < 0x80 }) {
                    encoded[place] = Self.mark(5, text.utf8.count) + Array(text.utf8)
                } else {
                    encoded[place] = Self.mark(6, text.utf16.count) + text.utf16.flatMap { Self.big(Int($0), 2) }
                }
            case .data(let data): encoded[place] = Self.mark(4, data.count) + Array(data)
            case .uid(let uid): encoded[place] = [0x81] + Self.big(uid, 2)
            case .array(let nodes):
                let references = nodes.map { add($0) }
                encoded[place] = Self.mark(0xA, nodes.count) + references.flatMap { Self.big($0, 2) }
            case .dictionary(let entries):
                let keys = entries.map { add(.string($0.0)) }
                let values = entries.map { add($0.1) }
                encoded[place] = Self.mark(0xD, entries.count) + (keys + values).flatMap { Self.big($0, 2) }
            }
            return place
        }
    }
}

/// A model as Apple's compiler writes it: teams with ordered members, and leaders who are persons.
enum AppleArchive {
    static func model(inheritedToo: Bool = false) -> [UInt8] {
        let writer = ArchiveWriter()
        let (team, person, leader) = (writer.reserve(), writer.reserve(), writer.reserve())
        let (members, teamOf) = (writer.reserve(), writer.reserve())
        func attribute(_ name: String, _ type: Int64, _ more: [(String, ArchiveWriter.Node)] = []) -> ArchiveWriter.Node
        {
            writer.object(
                "NSAttributeDescription",
                [
                    ("NSPropertyName", writer.string(name)), ("NSAttributeType", .integer(type)),
                    ("NSIsOptional", .bool(true)), ("NSRenamingIdentifier", writer.string(name)),
                ] + more)
        }
        func keyPath(_ name: String) -> ArchiveWriter.Node {
            let path = writer.object("NSKeyPathSpecifierExpression", [("NSKeyPath", writer.string(name))])
            return writer.object(
                "NSKeyPathExpression",
                [
                    ("NSOperand", writer.object("NSSelfExpression", [])),
                    ("NSSelectorName", writer.string("valueForKey:")),
                    ("NSArguments", writer.list([path])),
                ])
        }
        func constant(_ node: ArchiveWriter.Node) -> ArchiveWriter.Node {
            writer.object("NSConstantValueExpression", [("NSConstantValue", node)])
        }
        func comparison(
            _ left: ArchiveWriter.Node, _ type: Int64, _ right: ArchiveWriter.Node, options: Int64 = 0
        ) -> ArchiveWriter.Node {
            let relation = writer.object(
                "NSComparisonPredicateOperator",
                [("NSOperatorType", .integer(type)), ("NSModifier", .integer(0)), ("NSOptions", .integer(options))])
            return writer.object(
                "NSComparisonPredicate",
                [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", relation)])
        }
        let name = attribute(
            "name", 700,
            [
                (
                    "NSValidationPredicates",
                    writer.list([
                        comparison(keyPath("length"), 3, constant(.integer(2))),
                        comparison(keyPath("length"), 1, constant(.integer(20))),
                        comparison(writer.object("NSSelfExpression", []), 8, constant(writer.string("A")), options: 1),
                    ])
                ),
                (
                    "NSValidationWarnings",
                    writer.list([.integer(1670), .integer(1660), writer.string("Names begin with an A.")])
                ),
                ("NSFlagsKey", .integer(16)),
            ])
        let age = attribute(
            "age", 100,
            [("NSDefaultValue", .integer(18)), ("NSUserInfo", writer.dictionary([("a", writer.string("b"))]))])
        writer.fill(
            members, "NSRelationshipDescription",
            [
                ("NSPropertyName", writer.string("members")), ("NSDestinationEntity", .uid(person)),
                ("NSInverseRelationship", .uid(teamOf)), ("NSMaxCount", .integer(0)), ("NSMinCount", .integer(0)),
                ("NSDeleteRule", .integer(2)), ("NSIsOrdered", .bool(true)), ("NSIsOptional", .bool(true)),
                ("NSEntity", .uid(team)),
            ])
        writer.fill(
            teamOf, "NSRelationshipDescription",
            [
                ("NSPropertyName", writer.string("team")), ("NSDestinationEntity", .uid(team)),
                ("NSInverseRelationship", .uid(members)), ("NSMaxCount", .integer(1)), ("NSMinCount", .integer(0)),
                ("NSDeleteRule", .integer(1)), ("NSIsOptional", .bool(true)), ("NSEntity", .uid(person)),
            ])
        func entity(
            _ place: Int, _ name: String, parent: Int = 0, _ properties: [(String, ArchiveWriter.Node)],
            _ more: [(String, ArchiveWriter.Node)] = []
        ) {
            writer.fill(
                place, "NSEntityDescription",
                [
                    ("NSEntityName", writer.string(name)), ("NSClassNameForEntity", writer.string("App.\(name)")),
                    ("NSSuperentity", .uid(parent)), ("NSProperties", writer.dictionary(properties)),
                ] + more)
        }
        let element = writer.object(
            "NSFetchIndexElementDescription",
            [("NSPropertyName", writer.string("name")), ("NSAscending", .bool(false))])
        let index = writer.object(
            "NSFetchIndexDescription",
            [("NSIndexName", writer.string("byName")), ("NSIndexElements", writer.list([element]))])
        entity(team, "Team", [("title", attribute("title", 700)), ("members", .uid(members))])
        let own: [(String, ArchiveWriter.Node)] = [("name", name), ("age", age), ("team", .uid(teamOf))]
        entity(
            person, "Person", own,
            [
                ("NSFetchIndexDescriptions", writer.list([index])),
                ("NSUniqueTuples", writer.list([writer.list([writer.string("name")])])),
            ])
        entity(leader, "Leader", parent: person, (inheritedToo ? own : []) + [("since", attribute("since", 900))])
        let sort = writer.object("NSSortDescriptor", [("NSKey", writer.string("age")), ("NSAscending", .bool(false))])
        let request = writer.object(
            "NSFetchRequest",
            [
                ("NSEntity", .uid(person)), ("NSSortDescriptors", writer.list([sort])), ("NSFetchLimit", .integer(5)),
                (
                    "NSPredicate",
                    comparison(
                        keyPath("age"), 2, writer.object("NSVariableExpression", [("NSVariable", writer.string("AGE"))])
                    )
                ),
            ])
        let root = writer.object(
            "NSManagedObjectModel",
            [
                (
                    "NSEntities",
                    writer.dictionary([("Team", .uid(team)), ("Person", .uid(person)), ("Leader", .uid(leader))])
                ),
                ("NSFetchRequestTemplates", writer.dictionary([("older", request)])),
                ("NSConfigurations", writer.dictionary([("Some", writer.list([.uid(team)], "NSSet"))])),
                ("NSVersionIdentifiers", writer.list([writer.string("v1")], "NSSet")),
            ])
        return writer.bytes(root: root)
    }
}
