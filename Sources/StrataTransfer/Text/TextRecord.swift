import Foundation
import Strata
import StrataLog

/// A property of an object of a text file.
struct TextField {
    /// The property's name; of a composite's element the path; "@order.NAME" is the place in the order of the
    /// relationship whose inverse NAME is, "@value.NAME" a property whose name could be taken for something else.
    var name: String
    var value: Field
    /// Where it begins, when it was read.
    var place: TextPlace
}

/// One object of a text file.
struct TextRecord {
    var entity: String
    /// Nil in files that give none: keys are then given out in the order of the file.
    var uri: String?
    var fields: [TextField]
    /// What to-many relationships that need rows of their own lead to; each target is a text.
    var links: [(name: String, place: TextPlace, targets: [TextField])] = []
    var place: TextPlace
}

/// One link of a relationship that is to-many at both ends.
struct TextLink {
    /// "Entity.relationship".
    var relationship: String
    var owner: Field
    var member: Field
    var orders: [Int64]
    var place: TextPlace
}

/// How objects refer to each other in a text file.
public struct ReferenceKeys: Sendable {
    /// By entity the attribute that names its objects; others are named by their URIs.
    public var attributes: [String: String] = [:]

    /// References by URI.
    public init() {}

    /// The attribute that names an entity's objects; one of a parent entity counts, too.
    func attribute(_ entity: NSEntityDescription?) -> (entity: String, attribute: String)? {
        var current = entity
        while let candidate = current {
            if let name = candidate.name, let attribute = attributes[name] { return (name, attribute) }
            current = candidate.superentity
        }
        return nil
    }
}

/// Makes records of a store's rows.
final class RecordReader {
    let reader: StoreReader
    private let keys: ReferenceKeys
    private let byNumber: [UInt16: RowLayouts.Rows]
    private let uuid: String
    /// Called for each object and link.
    var onRecord: (() -> Void)?

    /// What is written has no place before.
    private static let nowhere = TextPlace(line: 0)
    private static let orderPrefix = "@order."
    private static let valuePrefix = "@value."
    /// The column that has the object itself.
    static let uriColumn = "uri"

    init(_ reader: StoreReader, _ keys: ReferenceKeys) throws {
        self.reader = reader
        self.keys = keys
        uuid = reader.uuid
        byNumber = Dictionary(reader.layouts.rows.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
        for (entity, attribute) in keys.attributes {
            guard let rows = reader.layouts.rows(named: entity),
                rows.slots.contains(where: { $0.name == attribute && $0.attribute != nil })
            else { throw TransferError("there is no attribute \(entity).\(attribute)") }
        }
    }

    static func fieldName(_ slot: RowLayouts.Slot) -> String {
        if slot.kind == .position { return orderPrefix + slot.name }
        return slot.name.hasPrefix("@") || slot.name == uriColumn ? valuePrefix + slot.name : slot.name
    }

    func uri(_ ref: ObjectRef) -> String {
        let name = byNumber[ref.entity]?.name ?? ""
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
        return "x-coredata://\(uuid)/\(escaped)/p\(ref.key)"
    }

    /// What stands for an object: its URI, or the value that names it.
    private func name(_ ref: ObjectRef) throws -> Field {
        guard let rows = byNumber[ref.entity], let key = keys.attribute(rows.entity),
            let slot = rows.slots.firstIndex(where: { $0.name == key.attribute && $0.attribute != nil })
        else { return .text(uri(ref)) }
        guard let row = try reader.row(ref) else { return .text(uri(ref)) }
        let field = try FieldCoding.field(row, slot, rows.slots[slot].kind)
        guard field != .null else {
            throw TransferError("\(uri(ref)) has no \(key.attribute), which is to name it")
        }
        return field
    }

    /// The objects of an entity, without those of entities that inherit from it, or of a root with all of them.
    func forEach(_ rows: RowLayouts.Rows, withSubentities: Bool, _ body: (TextRecord) throws -> Void) throws {
        try reader.forEachRow(root: rows.root) { row in
            guard let own = byNumber[row.entity], withSubentities || own.number == rows.number else { return }
            onRecord?()
            var fields: [TextField] = []
            fields.reserveCapacity(own.slots.count)
            for (slot, info) in own.slots.enumerated() {
                let value =
                    info.kind == .toOne
                    ? try row.reference(slot).map { try name($0) } ?? .null
                    : try FieldCoding.field(row, slot, info.kind)
                fields.append(TextField(name: Self.fieldName(info), value: value, place: Self.nowhere))
            }
            try body(TextRecord(entity: own.name, uri: uri(row.ref), fields: fields, place: Self.nowhere))
        }
    }

    func forEachLink(_ links: RowLayouts.Links, _ body: (TextLink) throws -> Void) throws {
        try reader.forEachRow(root: links.number) { row in
            guard let owner = try row.reference(0), let member = try row.reference(1) else { return }
            onRecord?()
            try body(
                TextLink(
                    relationship: "\(links.ownerName).\(links.relationship.name)",
                    owner: try name(owner), member: try name(member),
                    orders: [try row.integer(2) ?? 0, try row.integer(3) ?? 0], place: Self.nowhere))
        }
    }
}
