import Foundation
import Strata
import StrataLog

/// Writes records into a new store.
final class RecordInserter {
    private let builder: StoreBuilder
    private let keys: ReferenceKeys
    private let leavesOutDangling: Bool
    private(set) var report = TextTransfer.Report()
    private let byName: [String: RowLayouts.Rows]
    private let byNumber: [UInt16: RowLayouts.Rows]
    private var linkKeys: [UInt16: UInt64] = [:]
    private var nextKeys: [UInt16: UInt64] = [:]
    /// Whether objects of a root have URIs.
    private var hasURIs: [UInt16: Bool] = [:]
    /// By entity and value the objects that an attribute names.
    private var named: [String: [ExactText: ObjectRef]] = [:]
    private var check = ReferenceCheck()
    /// Called for each object and link.
    var onRecord: (() -> Void)?
    /// By entity and slot, and by declaring entity and name, the number of a relationship.
    private var relationshipNumbers: [UInt32: Int] = [:]
    private var declared: [[String]: Int] = [:]

    /// - Parameter leavesOutDangling: whether references to objects that are not there become null. All records must
    ///   have been noted then.
    init(_ builder: StoreBuilder, _ keys: ReferenceKeys, leavesOutDangling: Bool) throws {
        self.builder = builder
        self.keys = keys
        self.leavesOutDangling = leavesOutDangling
        byName = Dictionary(builder.layouts.rows.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
        byNumber = Dictionary(builder.layouts.rows.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
        for (entity, attribute) in keys.attributes
        where byName[entity]?.slots.contains(where: { $0.name == attribute }) != true {
            throw TransferError("the model has no attribute \(entity).\(attribute)")
        }
    }

    // MARK: Objects

    /// The key of a record: that of its URI, or the next one.
    private func ref(_ record: TextRecord, _ rows: RowLayouts.Rows) throws -> ObjectRef {
        guard hasURIs[rows.root, default: record.uri != nil] == (record.uri != nil) else {
            throw record.place.error("some objects have URIs and some have none")
        }
        hasURIs[rows.root] = record.uri != nil
        guard let uri = record.uri else {
            nextKeys[rows.root, default: 0] += 1
            return StoreBuilder.reference(entity: rows.number, key: nextKeys[rows.root] ?? 1)
        }
        let ref = try parse(uri, record.place)
        guard ref.entity == rows.number else { throw record.place.error("\(uri) is no \(rows.name)") }
        return ref
    }

    private func rows(_ record: TextRecord) throws -> RowLayouts.Rows {
        guard let rows = byName[record.entity] else {
            throw record.place.error("the model has no entity \(record.entity)")
        }
        guard !rows.entity.isAbstract else {
            throw record.place.error("the entity \(record.entity) is abstract")
        }
        return rows
    }

    /// Takes down which object is there and what names it, in a first pass over all records.
    func register(_ record: TextRecord) throws {
        let rows = try rows(record)
        let ref = try ref(record, rows)
        check.insert(ref)
        guard let key = keys.attribute(rows.entity),
            let field = record.fields.first(where: { $0.name == key.attribute }),
            field.value != .null
        else { return }
        guard named[key.entity, default: [:]].updateValue(ref, forKey: ExactText(field.value.text)) == nil else {
            throw field.place.error("another object has the same \(key.attribute)")
        }
    }

    /// Begins the pass that writes.
    func beginWriting() {
        nextKeys = [:]
        hasURIs = [:]
    }

    func insert(_ record: TextRecord) throws {
        onRecord?()
        let rows = try rows(record)
        let ref = try ref(record, rows)
        if !leavesOutDangling { check.insert(ref) }
        let writer: EntityWriter
        do {
            writer = try builder.beginRow(entity: rows.number, root: rows.root, key: ref.key)
        } catch let error as CocoaError {
            throw record.place.error(error.localizedDescription)
        }
        var given = Set<String>()
        var lost: String?
        for (slot, info) in rows.slots.enumerated() {
            let name = RecordReader.fieldName(info)
            guard let field = record.fields.first(where: { $0.name == name }) else { continue }
            given.insert(name)
            // What is left out has no place in an order either.
            if info.kind == .position, lost == info.name { continue }
            if info.kind == .toOne {
                guard field.value != .null else { continue }
                if let target = try target(field, info.relationship?.destinationEntity) {
                    try take(target, from: slot, info, rows, field.place)
                    writer.set(slot, target)
                } else {
                    lost = info.name
                }
                continue
            }
            do {
                try FieldReading.set(field.value, slot, info, writer)
            } catch let error as TransferError {
                throw field.place.error(error.description)
            }
        }
        writer.endRow()
        report.objects += 1
        for field in record.fields where !given.contains(field.name) {
            throw field.place.error("\(rows.name) has no property \(field.name) that is stored with it")
        }
        for link in record.links { try insert(link.name, link.place, link.targets, ref, rows) }
    }

    /// An object is at the other end of a relationship that is to-one at both ends once.
    private func take(
        _ target: ObjectRef, from slot: Int, _ info: RowLayouts.Slot, _ rows: RowLayouts.Rows, _ place: TextPlace
    ) throws {
        guard let inverse = info.relationship?.inverseRelationship, !inverse.isToMany else { return }
        guard check.take(target, for: relationshipNumber(rows, slot, info.name)) else {
            throw place.error("another object has the same \(info.name), which has one \(inverse.name) only")
        }
    }

    /// The number of a relationship, which entities that inherit it share.
    private func relationshipNumber(_ rows: RowLayouts.Rows, _ slot: Int, _ name: String) -> Int {
        let place = UInt32(rows.number) << 16 | UInt32(slot)
        if let number = relationshipNumbers[place] { return number }
        var declaring = rows.entity
        while let above = declaring.superentity, above.relationshipsByName[name] != nil { declaring = above }
        let number = declared[[declaring.name ?? "", name], default: declared.count]
        declared[[declaring.name ?? "", name]] = number
        relationshipNumbers[place] = number
        return number
    }

    // MARK: Links

    /// The links of an object to others, where they have rows of their own.
    private func insert(
        _ name: String, _ place: TextPlace, _ targets: [TextField], _ ref: ObjectRef, _ rows: RowLayouts.Rows
    ) throws {
        guard let relationship = rows.entity.relationshipsByName[name] else {
            throw place.error("\(rows.name) has no relationship \(name)")
        }
        guard
            let links = builder.layouts.links.first(where: { links in
                links.relationship.name == name && isKind(rows.entity, of: links.ownerName)
            })
        else {
            throw place.error(
                "\(rows.name).\(name) is kept at its other end: give "
                    + "\(relationship.destinationEntity?.name ?? "").\(relationship.inverseRelationship?.name ?? name)")
        }
        for (index, target) in targets.enumerated() {
            if let member = try self.target(target, relationship.destinationEntity) {
                try insert(links, ref, member, [Int64(index + 1) << 20, 0], target.place)
            }
        }
    }

    private func isKind(_ entity: NSEntityDescription, of name: String) -> Bool {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if candidate.name == name { return true }
            current = candidate.superentity
        }
        return false
    }

    func insert(_ link: TextLink) throws {
        onRecord?()
        guard
            let links = builder.layouts.links.first(where: {
                "\($0.ownerName).\($0.relationship.name)" == link.relationship
            })
        else {
            throw link.place.error("the model has no relationship \(link.relationship) with links of its own")
        }
        let (ownerEntity, memberEntity) = (byName[links.ownerName]?.entity, links.relationship.destinationEntity)
        let owner = try target(TextField(name: "owner", value: link.owner, place: link.place), ownerEntity)
        let member = try target(TextField(name: "member", value: link.member, place: link.place), memberEntity)
        guard let owner, let member else { return }
        try insert(links, owner, member, link.orders.isEmpty ? [0, 0] : link.orders, link.place)
    }

    private func insert(
        _ links: RowLayouts.Links, _ owner: ObjectRef, _ member: ObjectRef, _ orders: [Int64], _ place: TextPlace
    ) throws {
        let isSwapped = links.inverse === links.relationship && member < owner
        let (first, second) = isSwapped ? (member, owner) : (owner, member)
        guard check.link(first, second, of: links.number) else { throw place.error("the link is there twice") }
        linkKeys[links.number, default: 0] += 1
        let writer = try builder.beginRow(
            entity: links.number, root: links.number, key: linkKeys[links.number] ?? 1)
        writer.set(0, first)
        writer.set(1, second)
        writer.set(2, orders[0])
        writer.set(3, orders[1])
        writer.endRow()
        report.links += 1
    }

    // MARK: References

    /// The object that a field names: by its URI or the value of an attribute.
    ///
    /// - Returns: nil for an object that is not there, when such references are left out.
    private func target(_ field: TextField, _ entity: NSEntityDescription?) throws -> ObjectRef? {
        let text = field.value.text
        let ref: ObjectRef
        if let key = keys.attribute(entity), !text.hasPrefix("x-coredata://") {
            guard let known = named[key.entity]?[ExactText(text)], field.value != .null else {
                if leavesOutDangling { return leaveOut() }
                throw field.place.error("no \(key.entity) has the \(key.attribute) that is given")
            }
            ref = known
        } else {
            guard case .text = field.value else { throw field.place.error("it is no object's URI") }
            ref = try parse(text, field.place)
        }
        guard let rows = byNumber[ref.entity], let name = entity?.name, isKind(rows.entity, of: name) else {
            throw field.place.error("'\(text.prefix(80))' is no \(entity?.name ?? "object")")
        }
        if leavesOutDangling { return check.contains(ref) ? ref : leaveOut() }
        check.want(ref)
        return ref
    }

    private func leaveOut() -> ObjectRef? {
        report.dangling += 1
        return nil
    }

    /// The reference that the end of a URI says: the entity's name and the key.
    private func parse(_ uri: String, _ place: TextPlace) throws -> ObjectRef {
        guard let ref = ref(uri) else { throw place.error("'\(uri.prefix(80))' is no object's URI") }
        return ref
    }

    private func ref(_ uri: String) -> ObjectRef? {
        let parts = uri.split(separator: "/").suffix(2).map { String($0) }
        guard parts.count == 2, parts[1].hasPrefix("p"),
            parts[1].utf8.dropFirst().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let key = UInt64(parts[1].dropFirst()),
            key > 0, key < 1 << 48, let rows = byName[Self.unescaped(parts[0])]
        else { return nil }
        return StoreBuilder.reference(entity: rows.number, key: key)
    }

    /// A part of a URI without its escapes. Foundation's way loses a character U+FEFF at the beginning.
    private static func unescaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? text
    }

    // MARK: What is missing

    /// An object that is referred to and has not come.
    var missing: ObjectRef? { check.missing }

    /// The error for an object that has not come.
    ///
    /// - Parameter place: where the reference to it is; nil where that cannot be found any more.
    func error(missing ref: ObjectRef, _ place: TextPlace?) -> TransferError {
        let problem = "there is no object \(byNumber[ref.entity]?.name ?? "")/p\(ref.key)"
        return place?.error(problem) ?? TransferError("\(problem), which another one refers to")
    }

    /// Where a record refers to an object, if it does.
    func place(of ref: ObjectRef, in record: TextRecord) -> TextPlace? {
        guard let rows = byName[record.entity] else { return nil }
        let names = Set(rows.slots.filter { $0.kind == .toOne }.map(\.name))
        let targets = record.fields.filter { names.contains($0.name) } + record.links.flatMap(\.targets)
        return targets.first { refers($0.value, to: ref) }?.place
    }

    /// Where a link refers to an object, if it does.
    func place(of ref: ObjectRef, in link: TextLink) -> TextPlace? {
        refers(link.owner, to: ref) || refers(link.member, to: ref) ? link.place : nil
    }

    private func refers(_ field: Field, to ref: ObjectRef) -> Bool {
        if case .text(let text) = field { self.ref(text) == ref } else { false }
    }
}
