import Foundation

/// Reads what ``ModelWriter`` wrote. Whatever the bytes are, it throws rather than trap, hang or allocate without
/// bound.
package struct ModelReader {
    private let bytes: [UInt8]
    private var position = 0
    private var strings: [String] = []
    private var partCount = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readModel(into model: NSManagedObjectModel) throws {
        try readStringTable()
        for _ in 0..<(try readCount()) {
            model.versionIdentifiers.insert(try readKey())
        }
        let hasDictionary = try readBool()
        var dictionary: [String: String] = [:]
        for _ in 0..<(try readCount()) {
            try beginPart()
            let key = try readString()
            dictionary[key] = try readString()
        }
        model.localizationDictionary = hasDictionary ? dictionary : nil
        try readEntities(into: model)
        let entities = model.entitiesByName
        for _ in 0..<(try readCount()) {
            try beginPart()
            let name = try readString()
            let members = try readStrings().map { member in
                guard let entity = entities[member] else { throw damaged("no entity '\(member)'") }
                return entity
            }
            model.setEntities(members, forConfigurationName: name)
        }
        for _ in 0..<(try readCount()) {
            let name = try readString()
            model.templates[name] = try readTemplate()
        }
        guard position == bytes.count else { throw damaged("\(bytes.count - position) bytes are left") }
    }

    /// Reads bytes that hold one part of a model and nothing else.
    mutating func readAlone<Part>(_ read: (inout ModelReader) throws -> Part) throws -> Part {
        try readStringTable()
        let part = try read(&self)
        guard position == bytes.count else { throw damaged("\(bytes.count - position) bytes are left") }
        return part
    }

    /// The template that is all there is.
    package mutating func readTemplateAlone() throws -> FetchRequestTemplate {
        try readAlone { try $0.readTemplate() }
    }

    private mutating func readStringTable() throws {
        let count = try readCount()
        strings.reserveCapacity(count)
        for _ in 0..<count {
            try beginPart()
            guard let string = String(validating: try readBytes(), as: UTF8.self) else {
                throw damaged("a string is not UTF-8")
            }
            strings.append(string)
        }
    }
}

// MARK: - Primitives

extension ModelReader {
    func damaged(_ what: String) -> ModelError {
        ModelError(.damaged, "\(what) at byte \(position) of the model")
    }

    /// Counts a part against the limit.
    mutating func beginPart() throws {
        partCount += 1
        guard partCount <= ModelEncoding.maximumPartCount else { throw damaged("too many parts") }
    }

    mutating func readByte() throws -> UInt8 {
        guard position < bytes.count else { throw damaged("the end comes too early") }
        defer { position += 1 }
        return bytes[position]
    }

    func peekByte() throws -> UInt8 {
        guard position < bytes.count else { throw damaged("the end comes too early") }
        return bytes[position]
    }

    mutating func readBool() throws -> Bool {
        switch try readByte() {
        case 0: false
        case 1: true
        default: throw damaged("a truth value is neither")
        }
    }

    mutating func readUInt64() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try readByte()
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw damaged("an integer is too long")
    }

    mutating func readSigned() throws -> Int64 {
        let value = try readUInt64()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func readInt() throws -> Int {
        Int(try readSigned())
    }

    /// A number of things that follow: no more than there are bytes.
    mutating func readCount() throws -> Int {
        let count = try readUInt64()
        guard count <= UInt64(bytes.count - position) else { throw damaged("a count of \(count) exceeds the rest") }
        return Int(count)
    }

    mutating func readBytes() throws -> [UInt8] {
        try readFixed(readCount())
    }

    mutating func readFixed(_ count: Int) throws -> [UInt8] {
        guard count <= bytes.count - position else { throw damaged("the end comes too early") }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func readString() throws -> String {
        try string(numbered: readUInt64())
    }

    mutating func readOptionalString() throws -> String? {
        let number = try readUInt64()
        return number == 0 ? nil : try string(numbered: number - 1)
    }

    mutating func readStrings() throws -> [String] {
        var result: [String] = []
        for _ in 0..<(try readCount()) {
            try beginPart()
            result.append(try readString())
        }
        return result
    }

    mutating func readOptionalStrings() throws -> [String]? {
        try readBool() ? try readStrings() : nil
    }

    mutating func readPredicate() throws -> NSPredicate {
        try ModelFormats.predicate(try readString())
    }

    mutating func readOptionalPredicate() throws -> NSPredicate? {
        try readBool() ? try readPredicate() : nil
    }

    mutating func readOptionalExpression() throws -> NSExpression? {
        try readOptionalString().map { try ModelFormats.expression($0) }
    }

    private func string(numbered number: UInt64) throws -> String {
        guard number < UInt64(strings.count) else { throw damaged("there is no string \(number)") }
        return strings[Int(number)]
    }
}
