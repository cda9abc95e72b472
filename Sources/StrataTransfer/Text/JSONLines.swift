import Foundation
import Strata
import StrataModelFile

/// Records as lines of JSON.
///
/// The first line says what the file is: `{"strata":2,"uuid":…,"model":…,"metadata":…}`, the last two as base64. Then
/// one line for each object, `{"entity":"Car","uri":"x-coredata://…/Car/p1","values":{…}}`, and one for each link of a
/// relationship that is to-many at both ends, `{"link":"Car.drivers","owner":…,"member":…,"order":[…]}`. The last line,
/// `{"end":true,"objects":…,"links":…}`, says how many of both there are. Version 1 had no such line.
enum JSONLines {
    static let version = 2
    /// What a file begins with.
    static let beginning = "{\"strata\":"
    /// The first version whose files have a last line.
    static let firstVersionWithEnd = 2

    struct Header {
        var version = JSONLines.version
        var uuid: String?
        var model: Data?
        var metadata: Data?
        /// By root entity the greatest key that was given out.
        var keys: [String: UInt64] = [:]
        /// Of a directory of comma-separated values: by file the entity, or the relationship, whose rows it has.
        var files: [String: String]?
    }

    enum Line {
        case header(Header)
        case object(TextRecord)
        case link(TextLink)
        case end(objects: Int, links: Int)
    }

    // MARK: Writing

    static func text(_ header: Header) -> String {
        var parts = ["\(beginning.dropFirst())\(header.version)"]
        if let uuid = header.uuid { parts.append("\"uuid\":\(QuotedText.of(uuid))") }
        if let metadata = header.metadata { parts.append("\"metadata\":\"\(metadata.base64EncodedString())\"") }
        let keys = header.keys.sorted { $0.key < $1.key }.map { "\(QuotedText.of($0.key)):\($0.value)" }
        if !keys.isEmpty { parts.append("\"keys\":{\(keys.joined(separator: ","))}") }
        if let files = header.files {
            let names = files.sorted { $0.key < $1.key }.map { "\(QuotedText.of($0.key)):\(QuotedText.of($0.value))" }
            parts.append("\"files\":{\(names.joined(separator: ","))}")
        }
        if let model = header.model { parts.append("\"model\":\"\(model.base64EncodedString())\"") }
        return "{\(parts.joined(separator: ","))}\n"
    }

    static func text(_ record: TextRecord) -> String {
        var parts = ["\"entity\":\(QuotedText.of(record.entity))"]
        if let uri = record.uri { parts.append("\"uri\":\(QuotedText.of(uri))") }
        let values = record.fields.map { "\(QuotedText.of($0.name)):\(text($0.value))" }
        parts.append("\"values\":{\(values.joined(separator: ","))}")
        return "{\(parts.joined(separator: ","))}\n"
    }

    static func text(_ link: TextLink) -> String {
        "{\"link\":\(QuotedText.of(link.relationship)),\"owner\":\(text(link.owner)),\"member\":\(text(link.member)),"
            + "\"order\":[\(link.orders.map(String.init).joined(separator: ","))]}\n"
    }

    static func end(objects: Int, links: Int) -> String {
        "{\"end\":true,\"objects\":\(objects),\"links\":\(links)}\n"
    }

    private static func text(_ field: Field) -> String {
        switch field {
        case .null: "null"
        case .bool, .number: field.text
        case .text(let text): QuotedText.of(text)
        }
    }

    // MARK: Reading

    /// - Throws: ``TransferError`` for a line that is none of these.
    static func parse(_ bytes: [UInt8], _ place: TextPlace) throws -> Line {
        guard let members = try JSONText.parse(bytes, place).members else {
            throw place.error("it is no JSON object")
        }
        let line = Members(place: place, members: members)
        if line["strata"] != nil { return .header(try header(line)) }
        if let end = line["end"] {
            guard case .bool(true) = end.value else { throw line.error("end", "\"end\" is not true") }
            try line.allow(["end", "objects", "links"])
            return .end(objects: try line.integer("objects"), links: try line.integer("links"))
        }
        return line["link"] != nil ? .link(try link(line)) : .object(try object(line))
    }

    private static func header(_ line: Members) throws -> Header {
        let number: Int = try line.integer("strata")
        guard number <= version else { throw line.place.error("the file is of a later version") }
        guard number >= 1 else { throw line.place.error("there is no version \(number)") }
        try line.allow(["strata", "uuid", "model", "metadata", "keys", "files"])
        var header = Header()
        header.version = number
        header.uuid = try line.optionalText("uuid")
        if let uuid = header.uuid, UUID(uuidString: uuid) == nil { throw line.error("uuid", "it is no UUID") }
        header.model = try line.data("model")
        header.metadata = try line.data("metadata")
        for key in try line.object("keys") ?? [] {
            guard case .number(let digits) = key.item.value, let number = NumberText(digits)?.integer(UInt64.self),
                number < 1 << 48
            else { throw line.place.at(key.item.column).error("it is no primary key") }
            header.keys[key.name] = number
        }
        if let files = try line.object("files") {
            header.files = [:]
            for file in files {
                guard let name = file.item.value.text else {
                    throw line.place.at(file.item.column).error("it is no name")
                }
                header.files?[file.name] = name
            }
        }
        return header
    }

    private static func link(_ line: Members) throws -> TextLink {
        try line.allow(["link", "owner", "member", "order"])
        guard let owner = line["owner"], let member = line["member"] else {
            throw line.place.error("a link has an owner and a member")
        }
        var orders: [Int64] = []
        if let order = line["order"] {
            guard case .list(let items) = order.value else { throw line.error("order", "it is no list") }
            orders = try items.map { item in
                guard case .number(let digits) = item.value, let number = NumberText(digits)?.integer(Int64.self) else {
                    throw line.place.at(item.column).error("it is no place in an order")
                }
                return number
            }
            guard orders.count == 2 || orders.isEmpty else { throw line.error("order", "a link has two places") }
        }
        return TextLink(
            relationship: try line.text("link"), owner: try field(owner, line.place),
            member: try field(member, line.place), orders: orders, place: line.place)
    }

    private static func object(_ line: Members) throws -> TextRecord {
        guard line["entity"] != nil, let values = try line.object("values") else {
            throw line.place.error("it has no \"entity\" and \"values\"")
        }
        try line.allow(["entity", "uri", "values"])
        var record = TextRecord(
            entity: try line.text("entity"), uri: try line.optionalText("uri"), fields: [], place: line.place)
        record.fields.reserveCapacity(values.count)
        var names: Set<String> = []
        for value in values {
            let place = line.place.at(value.item.column)
            // The model does not tell names apart that differ in how an accent is written.
            guard names.insert(value.name).inserted else {
                throw line.place.at(value.column).error("a name comes twice")
            }
            if case .list(let targets) = value.item.value {
                let fields = try targets.map { target in
                    TextField(
                        name: value.name, value: try field(target, line.place), place: line.place.at(target.column))
                }
                record.links.append((value.name, place, fields))
            } else {
                let name = try field(value.item, line.place)
                record.fields.append(TextField(name: value.name, value: name, place: place))
            }
        }
        return record
    }

    private static func field(_ item: JSONItem, _ place: TextPlace) throws -> Field {
        switch item.value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let digits): return .number(digits)
        case .text(let text): return .text(text)
        case .list, .object: throw place.at(item.column).error("a value is an object or a list of lists")
        }
    }

    /// The members of a line, by name.
    private struct Members {
        let place: TextPlace
        let members: [JSONMember]

        subscript(_ name: String) -> JSONItem? { members.first { $0.name == name }?.item }

        func error(_ name: String, _ problem: String) -> TransferError {
            place.at(self[name]?.column ?? 0).error(problem)
        }

        /// What nobody reads would be lost.
        func allow(_ names: [String]) throws {
            guard let other = members.first(where: { !names.contains($0.name) }) else { return }
            throw place.at(other.column).error("such a line has no \(QuotedText.of(String(other.name.prefix(40))))")
        }

        func optionalText(_ name: String) throws -> String? {
            guard let item = self[name] else { return nil }
            if case .null = item.value { return nil }
            guard let text = item.value.text else { throw error(name, "\"\(name)\" is no text") }
            return text
        }

        func text(_ name: String) throws -> String {
            guard let text = try optionalText(name) else { throw error(name, "\"\(name)\" is no text") }
            return text
        }

        func integer(_ name: String) throws -> Int {
            guard case .number(let digits) = self[name]?.value, let number = NumberText(digits)?.integer(Int.self),
                number >= 0
            else { throw error(name, "\"\(name)\" is no number") }
            return number
        }

        func data(_ name: String) throws -> Data? {
            guard let text = try optionalText(name) else { return nil }
            guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
                throw error(name, "\"\(name)\" is no base64")
            }
            return data
        }

        func object(_ name: String) throws -> [JSONMember]? {
            guard let item = self[name] else { return nil }
            guard let members = item.value.members else { throw error(name, "\"\(name)\" is no JSON object") }
            return members
        }
    }
}
