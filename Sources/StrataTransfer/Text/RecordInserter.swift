import Foundation
import Strata
import StrataLog

/// Writes records into a new store.
final class RecordInserter {
    private let builder: StoreBuilder
    private let keys: ReferenceKeys
    private(set) var report = TextTransfer.Report()
    private let byName: [String: RowLayouts.Rows]
    private var linkKeys: [UInt16: UInt64] = [:]
    private var nextKeys: [UInt16: UInt64] = [:]
    /// Whether objects of a root have URIs.
    private var hasURIs: [UInt16: Bool] = [:]
    /// By entity and value the objects that an attribute names.
    private var named: [String: [String: ObjectRef]] = [:]

    init(_ builder: StoreBuilder, _ keys: ReferenceKeys) throws {
        self.builder = builder
        self.keys = keys
        byName = Dictionary(builder.layouts.rows.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
        for (entity, attribute) in keys.attributes
        where byName[entity]?.slots.contains(where: { $0.name == attribute }) != true {
            throw TransferError("the model has no attribute \(entity).\(attribute)")
        }
    }

    /// The key of a record: that of its URI, or the next one.
    private func ref(_ record: TextRecord, _ rows: RowLayouts.Rows) throws -> ObjectRef {
        guard hasURIs[rows.root, default: record.uri != nil] == (record.uri != nil) else {
            throw TransferError("\(record.origin): some objects have URIs and some have none")
        }
        hasURIs[rows.root] = record.uri != nil
        guard let uri = record.uri else {
            nextKeys[rows.root, default: 0] += 1
            return StoreBuilder.reference(entity: rows.number, key: nextKeys[rows.root] ?? 1)
        }
        let ref = try parse(uri, record.origin)
        guard ref.entity == rows.number else {
            throw TransferError("\(record.origin): \(uri) is no \(rows.name)")
        }
        return ref
    }

    private func rows(_ record: TextRecord) throws -> RowLayouts.Rows {
        guard let rows = byName[record.entity] else {
            throw TransferError("\(record.origin): the model has no entity \(record.entity)")
        }
        guard !rows.entity.isAbstract else {
            throw TransferError("\(record.origin): the entity \(record.entity) is abstract")
        }
        return rows
    }

    /// Takes down what names an object, in a first pass over all records.
    func note(_ record: TextRecord) throws {
        let rows = try rows(record)
        let ref = try ref(record, rows)
        guard let key = keys.attribute(rows.entity),
            let field = record.fields.first(where: { $0.name == key.attribute }),
            field.value != .null
        else { return }
        guard named[key.entity, default: [:]].updateValue(ref, forKey: FieldCoding.text(field.value)) == nil else {
            throw TransferError(
                "\(record.origin): another object has the same \(key.attribute)")
        }
    }

    /// Begins the pass that writes.
    func beginWriting() {
        nextKeys = [:]
        hasURIs = [:]
    }

    func insert(_ record: TextRecord) throws {
        let rows = try rows(record)
        let ref = try ref(record, rows)
        let writer = try builder.beginRow(entity: rows.number, root: rows.root, key: ref.key)
        var given = Set<String>()
        for (slot, info) in rows.slots.enumerated() {
            let name = RecordReader.fieldName(info)
            guard let field = record.fields.first(where: { $0.name == name }) else { continue }
            given.insert(name)
            do {
                if info.kind == .toOne {
                    if field.value != .null {
                        writer.set(
                            slot,
                            try target(
                                FieldCoding.text(field.value), info.relationship?.destinationEntity, record.origin))
                    }
                } else {
                    try FieldCoding.set(field.value, slot, info, writer)
                }
            } catch let error as TransferError where !error.description.hasPrefix(record.origin) {
                throw TransferError("\(record.origin): \(error.description)")
            }
        }
        writer.endRow()
        report.objects += 1
        for field in record.fields where !given.contains(field.name) && field.value != .null {
            throw TransferError("\(record.origin): \(rows.name) has no property \(field.name) that is stored with it")
        }
        for link in record.links { try insert(link.name, link.targets, ref, rows, record.origin) }
    }

    /// The links of an object to others, where they have rows of their own.
    private func insert(
        _ name: String, _ targets: [String], _ ref: ObjectRef, _ rows: RowLayouts.Rows, _ origin: String
    ) throws {
        guard let relationship = rows.entity.relationshipsByName[name] else {
            throw TransferError("\(origin): \(rows.name) has no relationship \(name)")
        }
        guard
            let links = builder.layouts.links.first(where: { links in
                links.relationship.name == name && isKind(rows.entity, of: links.ownerName)
            })
        else {
            throw TransferError(
                "\(origin): \(rows.name).\(name) is kept at its other end: give "
                    + "\(relationship.destinationEntity?.name ?? "").\(relationship.inverseRelationship?.name ?? name)")
        }
        for (index, text) in targets.enumerated() {
            let member = try target(text, relationship.destinationEntity, origin)
            try insert(links, ref, member, [Int64(index + 1) << 20, 0])
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

    func insert(_ link: TextLink, _ origin: String) throws {
        guard
            let links = builder.layouts.links.first(where: {
                "\($0.ownerName).\($0.relationship.name)" == link.relationship
            })
        else {
            throw TransferError("\(origin): the model has no relationship \(link.relationship) with links of its own")
        }
        let owner = try target(link.owner, byName[links.ownerName]?.entity, origin)
        let member = try target(link.member, links.relationship.destinationEntity, origin)
        try insert(links, owner, member, link.orders.count == 2 ? link.orders : [0, 0])
    }

    private func insert(
        _ links: RowLayouts.Links, _ owner: ObjectRef, _ member: ObjectRef, _ orders: [Int64]
    ) throws {
        linkKeys[links.number, default: 0] += 1
        let writer = try builder.beginRow(
            entity: links.number, root: links.number, key: linkKeys[links.number] ?? 1)
        let isSwapped = links.inverse === links.relationship && member < owner
        writer.set(0, isSwapped ? member : owner)
        writer.set(1, isSwapped ? owner : member)
        writer.set(2, orders[0])
        writer.set(3, orders[1])
        writer.endRow()
        report.links += 1
    }

    /// The object that a text names: by its URI or the value of an attribute.
    private func target(_ text: String, _ entity: NSEntityDescription?, _ origin: String) throws -> ObjectRef {
        let ref: ObjectRef
        if let key = keys.attribute(entity), !text.hasPrefix("x-coredata://") {
            guard let known = named[key.entity]?[text] else {
                throw TransferError("\(origin): no \(key.entity) has the \(key.attribute) that is given")
            }
            ref = known
        } else {
            ref = try parse(text, origin)
        }
        guard let rows = builder.layouts.rows.first(where: { $0.number == ref.entity }),
            let name = entity?.name, isKind(rows.entity, of: name)
        else { throw TransferError("\(origin): '\(text)' is no \(entity?.name ?? "object")") }
        return ref
    }

    /// The reference that the end of a URI says: the entity's name and the key.
    private func parse(_ uri: String, _ origin: String) throws -> ObjectRef {
        let parts = uri.split(separator: "/").suffix(2).map { String($0) }
        guard parts.count == 2, parts[1].hasPrefix("p"), let key = UInt64(parts[1].dropFirst()), key > 0,
            key < 1 << 48, let rows = byName[parts[0].removingPercentEncoding ?? parts[0]]
        else { throw TransferError("\(origin): '\(uri.prefix(80))' is no object's URI") }
        return StoreBuilder.reference(entity: rows.number, key: key)
    }
}
