import Foundation
import StrataSupport

/// Writes models and their parts; the layout is what the functions write, in their order.
package struct ModelWriter {
    package enum Mode {
        /// For files: what has no encoding is an error.
        case storing
        /// For comparing descriptions: what has no encoding counts by its identity.
        case comparing
    }

    let mode: Mode
    private var strings: [String] = []
    private var stringNumbers: [String: UInt64] = [:]
    private var body: [UInt8] = []
    private var partCount = 0

    package init(mode: Mode) {
        self.mode = mode
    }

    /// The string table and everything written.
    package var payload: [UInt8] {
        var table = ModelWriter(mode: mode)
        table.write(UInt64(strings.count))
        for string in strings {
            table.write(bytes: Array(string.utf8))
        }
        return table.body + body
    }

    /// Whether two descriptions say the same.
    static func describeSame(_ one: AnyObject, _ other: AnyObject) -> Bool {
        guard type(of: one) == type(of: other), let first = comparable(one), let second = comparable(other) else {
            return false
        }
        return first == second
    }

    private static func comparable(_ description: AnyObject) -> [UInt8]? {
        var writer = ModelWriter(mode: .comparing)
        do {
            switch description {
            case let model as NSManagedObjectModel: try writer.write(model: model)
            case let entity as NSEntityDescription: try writer.write(entity: entity)
            case let property as NSPropertyDescription: try writer.write(property: property)
            case let index as NSFetchIndexDescription: try writer.write(index: index)
            case let element as NSFetchIndexElementDescription: try writer.write(element: element)
            default: return nil
            }
        } catch {
            return nil
        }
        return writer.payload
    }
}

// MARK: - Primitives

extension ModelWriter {
    mutating func write(byte: UInt8) {
        body.append(byte)
    }

    mutating func write(_ value: Bool) {
        body.append(value ? 1 : 0)
    }

    mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            body.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        body.append(UInt8(rest))
    }

    mutating func write(signed value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func write(bytes: [UInt8]) {
        write(UInt64(bytes.count))
        body += bytes
    }

    /// As they are, without a length.
    mutating func write(fixed bytes: some Sequence<UInt8>) {
        body += bytes
    }

    mutating func write(_ string: String) {
        write(number(of: string))
    }

    mutating func write(optional string: String?) {
        write(string.map { number(of: $0) + 1 } ?? 0)
    }

    mutating func write(_ strings: [String]) {
        write(UInt64(strings.count))
        for string in strings { write(string) }
    }

    mutating func write(optional strings: [String]?) {
        write(strings != nil)
        if let strings { write(strings) }
    }

    var byteCount: Int { body.count }

    func byte(at index: Int) -> UInt8 { body[index] }

    /// Counts a part against the limit.
    mutating func beginPart() throws {
        partCount += 1
        guard partCount <= ModelEncoding.maximumPartCount else {
            throw ModelError(.notEncodable, "the model has over \(ModelEncoding.maximumPartCount) parts")
        }
    }

    private mutating func number(of string: String) -> UInt64 {
        if let number = stringNumbers[string] { return number }
        let number = UInt64(strings.count)
        strings.append(string)
        stringNumbers[string] = number
        return number
    }

    mutating func write(optional predicate: NSPredicate?) throws {
        write(predicate != nil)
        if let predicate { try write(predicate: predicate) }
    }

    mutating func write(predicate: NSPredicate) throws {
        do {
            write(try ModelFormats.format(of: predicate))
        } catch  where mode == .comparing {
            write("identity \(ObjectIdentifier(predicate))")
        }
    }

    mutating func write(optional expression: NSExpression?) throws {
        write(optional: try expression.map { try ModelFormats.format(of: $0) })
    }
}

/// The order in which names and keys are written: by their bytes, the same on every machine.
func precedesByBytes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
}

// MARK: - The model

extension ModelWriter {
    mutating func write(model: NSManagedObjectModel) throws {
        try write(values: model.versionIdentifiers)
        write(model.localizationDictionary != nil)
        let translations = (model.localizationDictionary ?? [:]).sorted { precedesByBytes($0.key, $1.key) }
        write(UInt64(translations.count))
        for (key, value) in translations {
            try beginPart()
            write(key)
            write(value)
        }
        write(UInt64(model.entities.count))
        for entity in model.entities.sorted(by: { precedesByBytes($0.name ?? "", $1.name ?? "") }) {
            try write(entity: entity)
        }
        write(UInt64(model.configurationMembers.count))
        for name in model.configurationMembers.keys.sorted(by: precedesByBytes) {
            try beginPart()
            write(name)
            let members = model.configurationMembers[name] ?? []
            write(members.map { $0.name ?? "" }.sorted(by: precedesByBytes))
        }
        write(UInt64(model.templates.count))
        for (name, template) in model.templates.sorted(by: { precedesByBytes($0.key, $1.key) }) {
            write(name)
            try write(template: template)
        }
    }

    mutating func write(entity: NSEntityDescription) throws {
        try beginPart()
        write(optional: entity.name)
        write(optional: entity.explicitClassName)
        write(entity.isAbstract)
        write(optional: entity.superentity?.name)
        write(optional: entity.versionHashModifier)
        write(optional: entity.explicitRenamingIdentifier)
        try write(optional: entity.coreSpotlightDisplayNameExpression)
        try write(userInfo: entity.userInfo)
        write(UInt64(entity.ownProperties.count))
        for property in entity.ownProperties.sorted(by: { precedesByBytes($0.name, $1.name) }) {
            try write(property: property)
        }
        write(UInt64(entity.uniquenessConstraints.count))
        for names in entity.uniquenessConstraintNames {
            try beginPart()
            write(names)
        }
        write(UInt64(entity.legacyCompoundIndexes.count))
        for index in entity.legacyCompoundIndexes {
            try beginPart()
            write(index.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" })
        }
        write(UInt64(entity.indexes.count))
        for index in entity.indexes.sorted(by: { precedesByBytes($0.name, $1.name) }) {
            try write(index: index)
        }
    }

    mutating func write(index: NSFetchIndexDescription) throws {
        try beginPart()
        write(index.name)
        try write(optional: index.partialIndexPredicate)
        write(UInt64(index.elements.count))
        for element in index.elements {
            try write(element: element)
        }
    }

    mutating func write(element: NSFetchIndexElementDescription) throws {
        try beginPart()
        write(byte: UInt8(element.collationType.rawValue))
        write(element.isAscending)
        if let expression = element.property as? NSExpressionDescription {
            write(true)
            try write(property: expression)
        } else {
            write(false)
            write(element.propertyName ?? "")
        }
    }

    package mutating func write(template: FetchRequestTemplate) throws {
        try beginPart()
        write(optional: template.entityName)
        try write(optional: template.predicate)
        write(UInt64(template.sorts.count))
        for sort in template.sorts {
            try beginPart()
            write(sort.key)
            write(sort.isAscending)
            write(optional: sort.selectorName)
        }
        write(UInt64(template.resultType.rawValue))
        for count in [template.fetchLimit, template.fetchOffset, template.fetchBatchSize] {
            write(signed: Int64(count))
        }
        var flags: ModelEncoding.TemplateFlags = []
        if template.includesSubentities { flags.insert(.subentities) }
        if template.includesPropertyValues { flags.insert(.propertyValues) }
        if template.includesPendingChanges { flags.insert(.pendingChanges) }
        if template.returnsObjectsAsFaults { flags.insert(.faults) }
        if template.returnsDistinctResults { flags.insert(.distinct) }
        if template.shouldRefreshRefetchedObjects { flags.insert(.refresh) }
        if template.timeLimit != nil { flags.insert(.timeLimit) }
        write(byte: flags.rawValue)
        write(optional: template.propertyNamesToFetch)
        write(optional: template.propertyNamesToGroupBy)
        try write(optional: template.havingPredicate)
        write(optional: template.relationshipKeyPathsForPrefetching)
        if let limit = template.timeLimit { write(signed: limit.wholeNanoseconds) }
    }
}
