import Foundation

/// A keyed archive, walked as a property list: no object is made of a class that the file names.
package final class KeyedArchive {
    private let list: BinaryPropertyList
    /// By UID, the places in the list.
    private let indices: [Int]
    private let rootUID: Int

    /// - Throws: ``ArchiveError`` for anything that is no keyed archive.
    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        let list = try BinaryPropertyList(bytes)
        let outer = Self.fields(list, list.root)
        guard let outer, case .array(let indices)? = outer["$objects"].map({ list.objects[$0] }),
            let top = outer["$top"].flatMap({ Self.fields(list, $0) }),
            let root = top["root"], case .uid(let uid) = list.objects[root]
        else { throw ArchiveError("it is no keyed archive") }
        self.list = list
        self.indices = indices
        rootUID = uid
    }

    /// The archived object.
    ///
    /// - Throws: ``ArchiveError`` when the archive has none.
    package func root() throws(ArchiveError) -> ArchivedObject {
        guard case .object(let object) = try rootValue() else {
            throw ArchiveError("the archive holds no object")
        }
        return object
    }

    /// What was archived: an object, or a value that needs none.
    package func rootValue() throws(ArchiveError) -> ArchivedValue { try value(uid: rootUID) }

    private static func fields(_ list: BinaryPropertyList, _ index: Int) -> [String: Int]? {
        guard case .dictionary(let keys, let values) = list.objects[index] else { return nil }
        var fields: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            guard case .string(let name) = list.objects[key] else { return nil }
            fields[name] = value
        }
        return fields
    }

    fileprivate func value(uid: Int) throws(ArchiveError) -> ArchivedValue {
        guard indices.indices.contains(uid) else { throw ArchiveError("a reference leads to no object") }
        if uid == 0 { return .null }
        return try value(index: indices[uid], uid: uid)
    }

    fileprivate func value(index: Int, uid: Int?) throws(ArchiveError) -> ArchivedValue {
        switch list.objects[index] {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .integer(Int64(bitPattern: value))
        case .real(let value): return .real(value)
        case .date(let value): return .date(value)
        case .data(let value): return .data(value)
        case .string(let value): return .string(value)
        case .uid(let next):
            // A reference that leads to a reference is in no archive that Foundation writes.
            guard uid == nil else { throw ArchiveError("a reference leads to a reference") }
            return try value(uid: next)
        case .array(let indices): return .list(indices)
        case .dictionary:
            guard let uid, let fields = Self.fields(list, index), let type = fields["$class"],
                case .uid(let classUID) = list.objects[type], indices.indices.contains(classUID),
                let description = Self.fields(list, indices[classUID]),
                let name = description["$classname"], case .string(let className) = list.objects[name]
            else { throw ArchiveError("an object has no class") }
            return .object(ArchivedObject(archive: self, uid: uid, className: className, fields: fields))
        }
    }
}

/// What an archived object holds under a key.
package enum ArchivedValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01.
    case date(Double)
    case data(Data)
    case string(String)
    case object(ArchivedObject)
    /// Places of the elements.
    case list([Int])
}

/// An object of a keyed archive: a class name and values by key.
package struct ArchivedObject {
    fileprivate let archive: KeyedArchive
    /// Tells objects of one archive apart.
    package let uid: Int
    package let className: String
    fileprivate let fields: [String: Int]

    package var keys: [String] { fields.keys.filter { $0 != "$class" }.sorted() }

    /// The value of a key; null where there is none.
    package func value(_ key: String) throws(ArchiveError) -> ArchivedValue {
        guard let index = fields[key] else { return .null }
        return try archive.value(index: index, uid: nil)
    }

    package func object(_ key: String) throws(ArchiveError) -> ArchivedObject? {
        if case .object(let object) = try value(key) { return object }
        return nil
    }

    package func string(_ key: String) throws(ArchiveError) -> String? { try value(key).text() }

    package func integer(_ key: String) throws(ArchiveError) -> Int? {
        switch try value(key) {
        case .integer(let value): return Int(value)
        case .bool(let value): return value ? 1 : 0
        case .real(let value): return Int(exactly: value.rounded())
        default: return nil
        }
    }

    package func flag(_ key: String) throws(ArchiveError) -> Bool { try integer(key).map { $0 != 0 } ?? false }

    /// The elements of an array or set that the key holds; none for null.
    package func elements(_ key: String) throws(ArchiveError) -> [ArchivedValue] {
        try object(key)?.elements() ?? []
    }

    /// The objects among the elements that the key holds.
    package func objects(_ key: String) throws(ArchiveError) -> [ArchivedObject] {
        try elements(key).compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    /// The entries of a dictionary that the key holds; none for null.
    package func entries(_ key: String) throws(ArchiveError) -> [(key: String, value: ArchivedValue)] {
        try object(key)?.entries() ?? []
    }

    /// The elements of the object, which is an array or a set.
    package func elements() throws(ArchiveError) -> [ArchivedValue] {
        try list("NS.objects") ?? []
    }

    /// The elements of the list under a key, or the one value that it has.
    ///
    /// - Throws: ``ArchiveError`` also if there are too many.
    package func values(_ key: String, atMost maximum: Int) throws(ArchiveError) -> [ArchivedValue] {
        if let list = try list(key, atMost: maximum) { return list }
        return [try value(key)]
    }

    /// The elements of the list under a key; nil if it has another value.
    private func list(_ key: String, atMost maximum: Int = .max) throws(ArchiveError) -> [ArchivedValue]? {
        guard case .list(let indices) = try value(key) else { return nil }
        guard indices.count <= maximum else { throw ArchiveError("a list has more elements than the archive") }
        var values: [ArchivedValue] = []
        for index in indices { values.append(try archive.value(index: index, uid: nil)) }
        return values
    }

    /// The entries of the object, which is a dictionary, also one of Core Data's own with known keys.
    package func entries() throws(ArchiveError) -> [(key: String, value: ArchivedValue)] {
        let keys: [ArchivedValue]
        let values: [ArchivedValue]
        if className.hasPrefix("NSKnownKeysDictionary") {
            keys = try object("searchMapping")?.elements("keys") ?? []
            values = try elements("values")
        } else {
            guard let list = try list("NS.keys") else { return [] }
            keys = list
            values = try elements()
        }
        guard keys.count == values.count else { throw ArchiveError("a dictionary has not as many values as keys") }
        var entries: [(key: String, value: ArchivedValue)] = []
        for (key, value) in zip(keys, values) {
            guard let name = try key.text() else { throw ArchiveError("a key of a dictionary is no text") }
            entries.append((name, value))
        }
        return entries
    }
}

extension ArchivedValue {
    /// A text, also one that was archived as an object.
    package func text() throws(ArchiveError) -> String? {
        switch self {
        case .string(let text): return text
        case .object(let object) where object.className.hasSuffix("String"): return try object.string("NS.string")
        default: return nil
        }
    }
}
