import Foundation
import Strata
import StrataIO
import SystemPackage

/// The files that comma-separated values lie in: one for each entity, called by its name, one for each relationship
/// with links of its own, and one that says what JSON Lines say in their first line, and what each file has.
struct CSVFiles {
    static let headerName = "strata.json"
    static let suffix = ".csv"
    static let linkSuffix = ".links.csv"
    private static let linkColumns = ["owner", "member", "order of member", "order of owner"]

    private(set) var header = JSONLines.Header()
    private var entities: [(name: String, path: String)] = []
    private var links: [(name: String, path: String)] = []
    /// What all files lie in, kept open; nil for a single file.
    private var folder: (any Directory)?

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
        let folder: any Directory
        let names: [String]
        do throws(Errno) {
            let fileSystem = PosixFileSystem()
            folder = try fileSystem.openDirectory(try fileSystem.resolve(FilePath(path)))
            names = try folder.list()
        } catch {
            throw TransferError("\(path): cannot be read: \(error)")
        }
        self.folder = folder
        let headerFile = directory.appendingPathComponent(Self.headerName).path
        if names.contains(Self.headerName) {
            let place = TextPlace(path: headerFile, line: 1)
            guard let line = try LineReader(headerFile, in: folder).next(),
                case .header(let found) = try JSONLines.parse(line, place)
            else { throw place.error("it does not say what the directory is") }
            header = found
        }
        let files = names.filter { $0.hasSuffix(Self.suffix) }
        for name in (header.files?.keys.sorted() ?? []) where !files.contains(name) {
            throw TransferError("\(directory.path): \(Self.headerName) lists \(name), which is not there")
        }
        for name in files.sorted() {
            let file = directory.appendingPathComponent(name).path
            let suffix = name.hasSuffix(Self.linkSuffix) ? Self.linkSuffix : Self.suffix
            // Without a table, as in version 1 and by hand, files are called by the names themselves.
            guard let content = header.files.map({ $0[name] }) ?? String(name.dropLast(suffix.count)) else {
                throw TransferError("\(file): \(Self.headerName) does not say what it has")
            }
            if suffix == Self.linkSuffix { links.append((content, file)) } else { entities.append((content, file)) }
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

    static func write(_ rows: RowLayouts.Rows, _ records: RecordReader, to writer: ByteWriter) throws -> Int {
        try writer.write(line([RecordReader.uriColumn] + rows.slots.map { RecordReader.fieldName($0) }))
        var count = 0
        try records.forEach(rows, withSubentities: false) { record in
            try writer.write(line([record.uri] + record.fields.map { $0.value == .null ? nil : $0.value.text }))
            count += 1
        }
        return count
    }

    static func write(_ links: RowLayouts.Links, _ records: RecordReader, to writer: ByteWriter) throws -> Int {
        try writer.write(line(linkColumns))
        var count = 0
        try records.forEachLink(links) { link in
            try writer.write(line([link.owner.text, link.member.text] + link.orders.map { "\($0)" }))
            count += 1
        }
        return count
    }

    private static func line(_ fields: [String?]) -> String {
        fields.map { $0.map(CSVText.field) ?? "" }.joined(separator: ",") + "\r\n"
    }

    // MARK: Reading

    func forEachRecord(_ body: (TextRecord) throws -> Void) throws {
        for (entity, path) in entities {
            let reader = try CSVReader(path, in: folder)
            guard let columns = try reader.next() else { throw TransferError("\(path): it has no line with columns") }
            let names = try Self.names(columns)
            while let fields = try reader.next() {
                if fields.count == 1, fields[0].text == nil { continue }
                try Self.expect(fields, names.count)
                var record = TextRecord(entity: entity, uri: nil, fields: [], place: fields[0].place.at(0))
                record.fields.reserveCapacity(names.count)
                for (name, field) in zip(names, fields) {
                    if name == RecordReader.uriColumn {
                        record.uri = field.text
                    } else {
                        record.fields.append(
                            TextField(name: name, value: field.text.map { .text($0) } ?? .null, place: field.place))
                    }
                }
                try body(record)
            }
        }
    }

    /// The names of columns: each has one, and none comes twice.
    private static func names(_ columns: [CSVField]) throws -> [String] {
        var names: [String] = []
        for column in columns {
            guard let name = column.text, !name.isEmpty else { throw column.place.error("the column has no name") }
            guard !names.contains(name) else { throw column.place.error("the column \(name) is there twice") }
            names.append(name)
        }
        return names
    }

    private static func expect(_ fields: [CSVField], _ count: Int) throws {
        guard fields.count != count else { return }
        let place = fields.count > count ? fields[count].place : fields[0].place.at(0)
        throw place.error("\(fields.count) fields under \(count) columns")
    }

    func forEachLink(_ body: (TextLink) throws -> Void) throws {
        for (relationship, path) in links {
            let reader = try CSVReader(path, in: folder)
            guard let columns = try reader.next() else { throw TransferError("\(path): it has no line with columns") }
            let names = try Self.names(columns)
            guard names == Self.linkColumns || names == Array(Self.linkColumns.prefix(2)) else {
                throw columns[0].place.error("the columns of links are: " + Self.linkColumns.joined(separator: ", "))
            }
            while let fields = try reader.next() {
                if fields.count == 1, fields[0].text == nil { continue }
                try Self.expect(fields, names.count)
                let orders = try fields.dropFirst(2).map { field in
                    guard let number = NumberText(field.text ?? "0")?.integer(Int64.self) else {
                        throw field.place.error("it is no place in an order")
                    }
                    return number
                }
                guard let owner = fields[0].text, let member = fields[1].text else {
                    throw fields[0].place.error("a link has an owner and a member")
                }
                try body(
                    TextLink(
                        relationship: relationship, owner: .text(owner), member: .text(member), orders: orders,
                        place: fields[0].place))
            }
        }
    }
}
