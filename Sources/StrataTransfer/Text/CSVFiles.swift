import Foundation
import Strata

/// The files that comma-separated values lie in: one for each entity, called by its name, one for each relationship
/// with links of its own, and one that says what JSON Lines say in their first line.
struct CSVFiles {
    static let headerName = "strata.json"
    static let linkSuffix = ".links.csv"
    private static let linkColumns = ["owner", "member", "order of member", "order of owner"]

    private(set) var header = JSONLines.Header()
    private var entities: [(name: String, path: String)] = []
    private var links: [(name: String, path: String)] = []

    /// - Parameter entity: the entity of a single file; nil for the name of the file.
    init(_ path: String, entity: String?) throws {
        var isDirectory: ObjCBool = false
        if path == "-"
            || !(FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue)
        {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            guard path != "-" || entity != nil else { throw TransferError("the entity has to be named") }
            entities = [(entity ?? name, path)]
            return
        }
        let directory = URL(fileURLWithPath: path, isDirectory: true)
        if let bytes = try? Data(contentsOf: directory.appendingPathComponent(Self.headerName)) {
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            if case .header(let found) = try JSONLines.parse(Array(line), Self.headerName) { header = found }
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() where name.hasSuffix(".csv") {
            let file = directory.appendingPathComponent(name).path
            if name.hasSuffix(Self.linkSuffix) {
                links.append((String(name.dropLast(Self.linkSuffix.count)), file))
            } else {
                entities.append((String(name.dropLast(4)), file))
            }
        }
    }

    static func isKind(_ entity: NSEntityDescription, of other: NSEntityDescription) -> Bool {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if candidate === other { return true }
            current = candidate.superentity
        }
        return false
    }

    // MARK: Writing

    static func write(
        _ rows: RowLayouts.Rows, _ records: RecordReader, to path: String, _ report: inout TextTransfer.Report
    ) throws {
        let writer = try ByteWriter(path)
        try writer.write(line(["uri"] + rows.slots.map { RecordReader.fieldName($0) }))
        var count = 0
        try records.forEach(rows, withSubentities: false) { record in
            try writer.write(
                line([record.uri] + record.fields.map { $0.value == .null ? nil : FieldCoding.text($0.value) }))
            count += 1
        }
        try writer.flush()
        report.objects += count
    }

    static func write(
        _ links: RowLayouts.Links, _ records: RecordReader, to path: String, _ report: inout TextTransfer.Report
    ) throws {
        let writer = try ByteWriter(path)
        try writer.write(line(linkColumns))
        var count = 0
        try records.forEachLink(links) { link in
            try writer.write(line([link.owner, link.member] + link.orders.map { "\($0)" }))
            count += 1
        }
        try writer.flush()
        report.links += count
    }

    private static func line(_ fields: [String?]) -> String {
        fields.map { field in
            guard let field else { return "" }
            guard field.isEmpty || field.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D })
            else { return field }
            return "\"" + field.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        }.joined(separator: ",") + "\r\n"
    }

    // MARK: Reading

    func forEachRecord(_ body: (TextRecord) throws -> Void) throws {
        for (entity, path) in entities {
            let reader = try CSVReader(path)
            guard let columns = try reader.next() else { continue }
            while let fields = try reader.next() {
                if fields.count == 1, fields[0] == nil { continue }
                let origin = "\(path), line \(reader.line)"
                guard fields.count == columns.count else {
                    throw TransferError("\(origin): \(fields.count) fields under \(columns.count) columns")
                }
                var record = TextRecord(entity: entity, uri: nil, fields: [], origin: origin)
                for (column, field) in zip(columns, fields) {
                    guard let column else { continue }
                    if column == "uri" {
                        record.uri = field
                    } else {
                        record.fields.append((column, field.map { .text($0) } ?? .null))
                    }
                }
                try body(record)
            }
        }
    }

    func forEachLink(_ body: (TextLink, String) throws -> Void) throws {
        for (relationship, path) in links {
            let reader = try CSVReader(path)
            guard try reader.next() != nil else { continue }
            while let fields = try reader.next() {
                let origin = "\(path), line \(reader.line)"
                guard fields.count >= 2, let owner = fields[0], let member = fields[1] else {
                    throw TransferError("\(origin): a link has an owner and a member")
                }
                let orders = fields.dropFirst(2).map { $0.flatMap { Int64($0) } ?? 0 }
                try body(TextLink(relationship: relationship, owner: owner, member: member, orders: orders), origin)
            }
        }
    }
}
