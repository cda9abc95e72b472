import Foundation
import StrataIO
import StrataLog
import StrataModelFile
import SystemPackage

/// A store in one property list, read when it is added and written whole at each save, with a rename, so that after a
/// crash it has the old or the new contents.
///
/// The file is Strata's own: a dictionary with `format` ("Strata atomic store"), `version`, `metadata`, `model`, which
/// is what log stores keep (``StoredModel``), so that a store can be migrated, and `objects`, which has for each entity
/// a list of dictionaries: `id`, a number unique in the root entity, `values` by attribute (see ``PropertyListValue``),
/// and `links` by relationship, each a list of names "Entity/id".
class PropertyListStore: NSAtomicStore, @unchecked Sendable {
    // Unchecked: only used with the link's lock held, or before the store is added.

    class var fileFormat: PropertyListSerialization.PropertyListFormat { .binary }
    class var storeType: String { NSBinaryStoreType }

    /// What was read along with the metadata.
    private var contents: [String: Any]?
    /// The file that was read or written last, and where it was.
    private struct Place {
        var url: URL
        /// Nil before there is a file.
        var file: StoreFileVersion?
        var directory: FileIdentity?

        init(_ url: URL) throws {
            self.url = url
            file = try StoreFile.version(url)
            directory = try StoreFile.directory(of: url)
        }
    }

    private var known: Place?
    /// By root entity name.
    private var nextIDs: [String: Int64] = [:]

    // MARK: Files

    private static let format = "Strata atomic store"
    private static let version = 1

    /// - Throws: `CocoaError` 260 when there is no file, 259 when it is no store.
    private class func read(_ url: URL) throws -> [String: Any] {
        guard let data = try StoreFile.read(url) else {
            throw DescribedError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path])
        }
        return try list(data, url)
    }

    /// - Throws: `CocoaError` 259 for bytes that are no store.
    class func check(_ data: Data, at url: URL) throws { _ = try list(data, url) }

    private class func list(_ data: Data, _ url: URL) throws -> [String: Any] {
        let limits = PropertyListLimits(byteCount: .max)
        guard let list = try? PropertyListFile.dictionary(data, limits), list["format"] as? String == format,
            (list["version"] as? Int ?? 0) <= version,
            list["metadata"] is [String: Any]
        else { throw damaged(url, "it is no store of Strata") }
        return list
    }

    private class func damaged(_ url: URL?, _ what: String) -> any Error {
        DescribedError(
            .fileReadCorruptFile,
            userInfo: [
                NSLocalizedDescriptionKey: "The store's file cannot be used: \(what).",
                NSFilePathErrorKey: url?.path ?? "",
            ])
    }

    private class func write(_ list: [String: Any], to url: URL) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: fileFormat, options: 0)
        try StoreFile.write(data, to: url)
    }

    /// The type of the store in a file; nil when it does not look like one.
    static func type(ofFileAt url: URL) -> String? {
        guard let data = try? StoreFile.read(url) else { return nil }
        if data.starts(with: Array("bplist".utf8)) { return NSBinaryStoreType }
        return data.starts(with: Array("<?xml".utf8)) ? NSXMLStoreType : nil
    }

    private func fileURL() throws -> URL {
        guard let url, url.isFileURL, !url.isNullDevice else {
            throw DescribedError(
                .persistentStoreOpen,
                userInfo: [NSLocalizedDescriptionKey: "A store of the type \(Self.storeType) needs the URL of a file."])
        }
        return url
    }

    // MARK: Metadata

    override func loadMetadata() throws {
        let url = try fileURL()
        if !isReadOnly { StoreFile.removeLeft(url) }
        do {
            // Before it is read: what takes its place meanwhile is looked at when it is written.
            known = try Place(url)
            let list = try Self.read(url)
            contents = list
            metadata = list["metadata"] as? [String: Any]
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile && !isReadOnly {
            metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.storeType]
        }
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try read(url)["metadata"] as? [String: Any] ?? [:]
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var list = try read(url)
        var new = metadata ?? [:]
        let old = list["metadata"] as? [String: Any] ?? [:]
        for key in StoreMetadata.systemKeys { new[key] = old[key] }
        list["metadata"] = new
        try write(list, to: url)
    }

    /// The model that a file was written with; nil for one that does not say it.
    class func modelBytes(at url: URL) throws -> [UInt8]? {
        (try read(url)["model"] as? Data).map { Array($0) }
    }

    // MARK: Reading

    override func load() throws {
        guard let contents else { return try save() }
        self.contents = nil
        let objects = contents["objects"] as? [String: [[String: Any]]] ?? [:]
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        var taken: Set<String> = []
        for (name, list) in objects {
            guard let entity = entities[name] else { throw Self.damaged(url, "the model has no entity \(name)") }
            for object in list {
                guard let id = object["id"] as? Int64, id < Int64.max else {
                    throw Self.damaged(url, "an object has no number")
                }
                let objectID = objectID(for: entity, withReferenceObject: NSNumber(value: id))
                let root = Self.rootName(entity)
                guard taken.insert("\(root)/\(id)").inserted else {
                    throw Self.damaged(url, "two objects of \(root) have the number \(id)")
                }
                nodes["\(name)/\(id)"] = NSAtomicStoreCacheNode(objectID: objectID)
                nextIDs[root] = max(nextIDs[root] ?? 1, id + 1)
            }
        }
        for (name, list) in objects {
            for object in list {
                guard let id = object["id"] as? Int64, let node = nodes["\(name)/\(id)"] else { continue }
                node.propertyCache = try values(of: object, node, nodes)
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    private func values(
        of object: [String: Any], _ node: NSAtomicStoreCacheNode, _ nodes: [String: NSAtomicStoreCacheNode]
    ) throws -> NSMutableDictionary {
        let values = NSMutableDictionary()
        let entity = node.objectID.entity
        let stored = object["values"] as? [String: Any] ?? [:]
        for (name, attribute) in entity.attributesByName {
            guard let value = stored[name] else { continue }
            guard let decoded = PropertyListValue.decode(value, attribute) else {
                throw Self.damaged(url, "the value of \(entity.name ?? "").\(name) is of the wrong type")
            }
            values[name] = decoded
        }
        let links = object["links"] as? [String: [String]] ?? [:]
        for (name, relationship) in entity.relationshipsByName {
            let found = try (links[name] ?? []).map { key in
                guard let target = nodes[key] else { throw Self.damaged(url, "there is no object \(key)") }
                return target
            }
            if relationship.isToMany {
                values[name] = relationship.isOrdered ? NSOrderedSet(array: found) : NSSet(array: found)
            } else if let target = found.first {
                guard found.count == 1 else {
                    throw Self.damaged(
                        url, "\(entity.name ?? "").\(name) is to-one and leads to \(found.count) objects")
                }
                values[name] = target
            }
        }
        return values
    }

    private static func rootName(_ entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return root.name ?? ""
    }

    // MARK: Writing

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        let root = Self.rootName(managedObject.entity)
        let id = nextIDs[root] ?? 1
        nextIDs[root] = id + 1
        return NSNumber(value: id)
    }

    override func save() throws {
        var objects: [String: [[String: Any]]] = [:]
        for node in cacheNodes() {
            let entity = node.objectID.entity
            var values: [String: Any] = [:]
            for (name, attribute) in entity.attributesByName where !attribute.isTransient {
                guard let value = node.value(forKey: name), !(value is NSNull) else { continue }
                values[name] = try PropertyListValue.encode(value, attribute)
            }
            var links: [String: [String]] = [:]
            for (name, relationship) in entity.relationshipsByName {
                guard let value = node.value(forKey: name) else { continue }
                let targets = relationship.isToMany ? AnyElements(value)?.elements ?? [] : [value]
                let names = targets.compactMap { ($0 as? NSAtomicStoreCacheNode).map(self.name) }
                if !names.isEmpty { links[name] = relationship.isOrdered ? names : names.sorted() }
            }
            let id = (referenceObject(for: node.objectID) as? NSNumber)?.int64Value ?? 0
            objects[entity.name ?? "", default: []].append(["id": id, "values": values, "links": links])
        }
        objects = objects.mapValues { list in
            list.sorted { ($0["id"] as? Int64 ?? 0) < ($1["id"] as? Int64 ?? 0) }
        }
        var list: [String: Any] = [
            "format": Self.format, "version": Self.version, "metadata": metadata ?? [:], "objects": objects,
        ]
        if let model = handle?.log.schema.model { list["model"] = Data(model) }
        let url = try fileURL()
        try checkIsInPlace(url)
        try Self.write(list, to: url)
        known = try Place(url)
    }

    /// Whether the store is not where it was read or written last. A URL that the program has set since then says where
    /// to write.
    ///
    /// What has taken the file's place may be the same store, which another coordinator has saved, or somebody has put
    /// back. A file that is gone is written anew, as long as its directory is the one that it was in.
    var isElsewhere: Bool {
        get throws {
            guard let url, let known, known.url == url else { return false }
            guard let found = try StoreFile.version(url) else {
                return try known.file != nil && StoreFile.directory(of: url) != known.directory
            }
            if found == known.file { return false }
            let uuid = try? Self.metadataForPersistentStore(with: url)[NSStoreUUIDKey] as? String
            return uuid == nil || uuid != metadata?[NSStoreUUIDKey] as? String
        }
    }

    private func checkIsInPlace(_ url: URL) throws {
        guard try isElsewhere else { return }
        let failure = StoreError(
            .io,
            "the store is not at its path any more: its file, or the directory that it was in, was moved, removed or "
                + "replaced while it was open. Nothing was written", errno: .staleNFSFileHandle)
        throw StoreFailure.opening(failure, url.path)
    }

    private func name(_ node: NSAtomicStoreCacheNode) -> String {
        "\(node.objectID.entity.name ?? "")/\(referenceObject(for: node.objectID))"
    }
}

/// ``NSBinaryStoreType``: a binary property list.
// Unchecked: nothing is added to the superclass.
final class BinaryStore: PropertyListStore, @unchecked Sendable {}

/// ``NSXMLStoreType``: a property list in XML.
// Unchecked: nothing is added to the superclass.
final class XMLStore: PropertyListStore, @unchecked Sendable {
    override class var fileFormat: PropertyListSerialization.PropertyListFormat { .xml }
    override class var storeType: String { NSXMLStoreType }
}

/// Attribute values as property lists have them, without loss in either format.
///
/// Real numbers, dates (seconds since 2001), decimals, UUIDs and URIs are texts, since property lists in XML round the
/// first two and know nothing of the others. A text with characters that XML cannot hold is data.
enum PropertyListValue {
    /// Nil when a transformer makes nothing of the value.
    ///
    /// - Throws: `ModelError` when a transformer makes something else than data of it.
    static func encode(_ value: Any, _ attribute: NSAttributeDescription) throws -> Any? {
        switch (attribute.attributeType, value) {
        case (.doubleAttributeType, let number as NSNumber): return "\(number.doubleValue)"
        case (.floatAttributeType, let number as NSNumber): return "\(number.floatValue)"
        case (.dateAttributeType, let date as Date): return "\(date.timeIntervalSinceReferenceDate)"
        case (.decimalAttributeType, let number as NSDecimalNumber): return number.decimalValue.description
        case (.UUIDAttributeType, let uuid as UUID): return uuid.uuidString
        case (.URIAttributeType, let url as URL): return url.absoluteString
        case (.booleanAttributeType, let number as NSNumber): return number.boolValue
        case (.integer16AttributeType, let number as NSNumber), (.integer32AttributeType, let number as NSNumber),
            (.integer64AttributeType, let number as NSNumber):
            return number.int64Value
        case (.stringAttributeType, let text as String):
            // Foundation drops a U+FEFF at the beginning.
            let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 0xFFFE && $0 != "\u{FEFF}" }
            return isPlain ? text : Data(text.utf8)
        case (.binaryDataAttributeType, let data as Data): return data
        default: return try attribute.transformedData(from: value)
        }
    }

    /// Nil when the value is not what ``encode(_:_:)`` makes of such an attribute: nothing is rounded or left out.
    static func decode(_ value: Any, _ attribute: NSAttributeDescription) -> Any? {
        switch (attribute.attributeType, value) {
        case (.doubleAttributeType, let text as String): return real(text, Double.self).map { NSNumber(value: $0) }
        case (.floatAttributeType, let text as String): return real(text, Float.self).map { NSNumber(value: $0) }
        case (.dateAttributeType, let text as String):
            return real(text, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) }
        case (.decimalAttributeType, let text as String):
            return text == "NaN"
                ? NSDecimalNumber.notANumber : NumberText(text)?.decimal.map { NSDecimalNumber(decimal: $0) }
        case (.UUIDAttributeType, let text as String): return UUID(uuidString: text)
        case (.URIAttributeType, let text as String):
            return URL(string: text, encodingInvalidCharacters: false).flatMap { $0.absoluteString == text ? $0 : nil }
        case (.booleanAttributeType, let number as NSNumber): return integer(number, 0, 1)
        case (.integer16AttributeType, let number as NSNumber):
            return integer(number, Int64(Int16.min), Int64(Int16.max))
        case (.integer32AttributeType, let number as NSNumber):
            return integer(number, Int64(Int32.min), Int64(Int32.max))
        case (.integer64AttributeType, let number as NSNumber): return integer(number, .min, .max)
        case (.stringAttributeType, let text as String): return text
        case (.stringAttributeType, let data as Data): return String(validating: data, as: UTF8.self)
        case (.binaryDataAttributeType, let data as Data): return data
        case (_, let data as Data): return attribute.readableValue(fromTransformedData: data)
        default: return nil
        }
    }

    /// What has no digits is said by name; what has is within the type's range.
    private static func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: String, _ type: Number.Type
    ) -> Number? {
        if let number = NumberText(text) { return number.real(type) }
        // "nan" and "inf", with their signs.
        guard text.drop(while: { $0 == "-" }).first?.isLetter == true else { return nil }
        return Number(text)
    }

    private static func integer(_ number: NSNumber, _ minimum: Int64, _ maximum: Int64) -> NSNumber? {
        let value = number.int64Value
        guard value >= minimum, value <= maximum, Double(value) == number.doubleValue else { return nil }
        // Beyond what a floating-point number holds exactly the two may agree though the integers do not.
        guard value.magnitude < 1 << 53 || number.stringValue == "\(value)" else { return nil }
        return number
    }
}
