import Foundation
import Strata
import StrataModelFile

/// Records as lines of JSON.
///
/// The first line says what the file is: `{"strata":1,"uuid":…,"model":…,"metadata":…}`, the last two as base64. Then
/// one line for each object, `{"entity":"Car","uri":"x-coredata://…/Car/p1","values":{…}}`, and one for each link of a
/// relationship that is to-many at both ends, `{"link":"Car.drivers","owner":…,"member":…,"order":[…]}`.
enum JSONLines {
    static let version = 1

    struct Header {
        var uuid: String?
        var model: Data?
        var metadata: Data?
        /// By root entity the greatest key that was given out.
        var keys: [String: UInt64] = [:]
    }

    enum Line {
        case header(Header)
        case object(TextRecord)
        case link(TextLink)
    }

    // MARK: Writing

    static func text(_ header: Header) -> String {
        var parts = ["\"strata\":\(version)"]
        if let uuid = header.uuid { parts.append("\"uuid\":\(QuotedText.of(uuid))") }
        if let metadata = header.metadata { parts.append("\"metadata\":\"\(metadata.base64EncodedString())\"") }
        let keys = header.keys.sorted { $0.key < $1.key }.map { "\(QuotedText.of($0.key)):\($0.value)" }
        if !keys.isEmpty { parts.append("\"keys\":{\(keys.joined(separator: ","))}") }
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
        "{\"link\":\(QuotedText.of(link.relationship)),\"owner\":\(QuotedText.of(link.owner)),\"member\":\(QuotedText.of(link.member)),"
            + "\"order\":[\(link.orders.map(String.init).joined(separator: ","))]}\n"
    }

    private static func text(_ field: Field) -> String {
        switch field {
        case .null: "null"
        case .bool, .integer, .real: FieldCoding.text(field)
        case .text(let text): QuotedText.of(text)
        }
    }

    // MARK: Reading

    /// - Throws: ``TransferError`` for a line that is none of these.
    static func parse(_ bytes: [UInt8], _ origin: String) throws -> Line {
        guard let any = try? JSONSerialization.jsonObject(with: Data(bytes)), let line = any as? [String: Any] else {
            throw TransferError("\(origin): it is no JSON object")
        }
        if let found = line["strata"] {
            guard let number = found as? Int, number <= version else {
                throw TransferError("\(origin): the file is of a later version")
            }
            var header = Header()
            header.uuid = line["uuid"] as? String
            header.model = (line["model"] as? String).flatMap { Data(base64Encoded: $0) }
            header.metadata = (line["metadata"] as? String).flatMap { Data(base64Encoded: $0) }
            header.keys = (line["keys"] as? [String: NSNumber] ?? [:]).mapValues(\.uint64Value)
            return .header(header)
        }
        if let relationship = line["link"] as? String, let owner = line["owner"], let member = line["member"] {
            return .link(
                TextLink(
                    relationship: relationship, owner: FieldCoding.text(try field(owner, origin)),
                    member: FieldCoding.text(try field(member, origin)),
                    orders: (line["order"] as? [NSNumber])?.map(\.int64Value) ?? []))
        }
        guard let entity = line["entity"] as? String, let values = line["values"] as? [String: Any] else {
            throw TransferError("\(origin): it has no \"entity\" and \"values\"")
        }
        var record = TextRecord(entity: entity, uri: line["uri"] as? String, fields: [], origin: origin)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let list = value as? [Any] {
                record.links.append((name, try list.map { FieldCoding.text(try field($0, origin)) }))
            } else {
                record.fields.append((name, try field(value, origin)))
            }
        }
        return .object(record)
    }

    private static func field(_ value: Any, _ origin: String) throws -> Field {
        switch value {
        case is NSNull: return .null
        case let text as String: return .text(text)
        case let flag as Bool where type(of: value) == Bool.self: return .bool(flag)
        case let number as NSNumber:
            // "c" and "B" are what truth values say they are.
            if ["c", "B"].contains(String(cString: number.objCType)) { return .bool(number.boolValue) }
            if ["d", "f"].contains(String(cString: number.objCType)) {
                // Read as a decimal number, whose conversion is not exact in the last place; its digits are.
                let exact = (number as? NSDecimalNumber).flatMap { Double($0.stringValue) }
                let real = exact ?? number.doubleValue
                if real == real.rounded(), abs(real) < 9e15, real != 0 || real.sign == .plus {
                    return .integer(Int64(real))
                }
                return .real(real)
            }
            return .integer(number.int64Value)
        default: throw TransferError("\(origin): a value is an object or a list of lists")
        }
    }
}
