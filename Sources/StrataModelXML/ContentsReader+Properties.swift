import Foundation
import StrataModelFile

extension ContentsReader {
    func readAttribute(_ element: ModelElement, owner: String) -> ModelDocument.Attribute {
        var attributes = ElementAttributes(element, entity: owner, property: element.attributes["name"], list: list)
        var read = ModelDocument.Attribute(name: attributes.required("name"), type: .undefined)
        if let text = attributes.nonEmpty("attributeType") {
            if let type = ModelDocument.AttributeType(rawValue: text) {
                read.type = type
            } else {
                attributes.report(.error, "attributeType=\"\(text)\" is no type")
            }
        }
        readCommon(&attributes, into: &read.property)
        read.usesScalarType = attributes.flag("usesScalarValueType")
        read.valueTransformerName = attributes.nonEmpty("valueTransformerName")
        read.valueClassName = attributes.nonEmpty("customClassName")
        read.allowsExternalStorage = attributes.flag("allowsExternalBinaryDataStorage") ?? false
        read.preservesValueOnDeletion =
            attributes.flag("preserveAfterDeletion") ?? attributes.flag("preservesValueInHistoryOnDeletion") ?? false
        read.allowsCloudEncryption = attributes.flag("allowsCloudEncryption") ?? false
        read.isDerived = attributes.flag("derived") ?? false
        read.derivationExpression = attributes.nonEmpty("derivationExpression")
        read.compositeName = attributes.nonEmpty("composite")
        readValues(&attributes, into: &read)
        read.property.userInfo = readChildren(of: element, attributes)
        attributes.finish()
        return read
    }

    private func readValues(_ attributes: inout ElementAttributes, into read: inout ModelDocument.Attribute) {
        let type = read.type
        let interval = date(&attributes, "defaultDateTimeInterval", type)
        let text = attributes.text("defaultValueString")
        if let interval {
            read.defaultValue = interval
        } else if let text {
            read.defaultValue = value(text, of: type, name: "defaultValueString", attributes)
        }
        let boundType: ModelDocument.AttributeType = type == .string ? .integer64 : type
        read.minimum = date(&attributes, "minDateTimeInterval", type)
        read.maximum = date(&attributes, "maxDateTimeInterval", type)
        if let text = attributes.nonEmpty("minValueString") {
            read.minimum = read.minimum ?? value(text, of: boundType, name: "minValueString", attributes)
        }
        if let text = attributes.nonEmpty("maxValueString") {
            read.maximum = read.maximum ?? value(text, of: boundType, name: "maxValueString", attributes)
        }
        if let pattern = attributes.nonEmpty("regularExpressionString") {
            if type == .string {
                read.pattern = pattern
            } else {
                attributes.report(.warning, "regularExpressionString is ignored, since the attribute is no String")
            }
        }
    }

    private func date(
        _ attributes: inout ElementAttributes, _ name: String, _ type: ModelDocument.AttributeType
    ) -> ModelDocument.Value? {
        guard let text = attributes.nonEmpty(name) else { return nil }
        guard type == .date else {
            attributes.report(.warning, "\(name) is ignored, since the attribute is no Date")
            return nil
        }
        guard let seconds = Double(text), seconds.isFinite else {
            attributes.report(.warning, "\(name)=\"\(text)\" is no number of seconds and is ignored")
            return nil
        }
        return .date(seconds)
    }

    /// What a text means as a value of a type. What it cannot mean is left out; that, and what means a value only by
    /// being converted, is reported.
    private func value(
        _ text: String, of type: ModelDocument.AttributeType, name: String, _ attributes: ElementAttributes
    ) -> ModelDocument.Value? {
        guard !text.isEmpty || type == .string else { return nil }
        switch ValueText(text, of: type) {
        case .exact(let value): return value
        case .converted(let value):
            attributes.report(
                .warning,
                "\(name)=\"\(text)\" is no value of type \(type.rawValue); \(Self.text(of: value)) is taken for it")
            return value
        case .unfit: break
        }
        switch type {
        case .undefined, .date, .binary, .transformable, .objectID, .composite:
            // Xcode leaves such texts behind when the type of an attribute is changed, and does not look at them.
            attributes.report(.warning, "\(name)=\"\(text)\" is ignored, since the attribute is a \(type.rawValue)")
        case .integer16, .integer32, .integer64, .double, .float, .decimal, .boolean, .uuid, .uri, .string:
            attributes.report(.warning, "\(name)=\"\(text)\" is no value of type \(type.rawValue) and is ignored")
        }
        return nil
    }

    private static func text(of value: ModelDocument.Value) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .decimal(let text): text
        default: "\(value)"
        }
    }

    func readRelationship(_ element: ModelElement, owner: String) -> ModelDocument.Relationship {
        var attributes = ElementAttributes(element, entity: owner, property: element.attributes["name"], list: list)
        var read = ModelDocument.Relationship(name: attributes.required("name"), destinationName: "")
        readCommon(&attributes, into: &read.property)
        read.destinationName = attributes.text("destinationEntity") ?? ""
        read.inverseName = attributes.nonEmpty("inverseName")
        read.inverseEntityName = attributes.nonEmpty("inverseEntity")
        read.minCount = attributes.count("minCount") ?? 0
        let isToMany = attributes.flag("toMany") ?? false
        let maxCount = attributes.count("maxCount")
        read.maxCount = maxCount ?? (isToMany ? 0 : 1)
        if let maxCount, isToMany != (maxCount != 1) {
            if isToMany {
                attributes.report(
                    .warning, "a to-many relationship of at most one object is a to-one relationship at run time")
            } else {
                attributes.report(.warning, "maxCount=\"\(maxCount)\" makes a to-many relationship, toMany does not")
            }
        }
        read.isOrdered = attributes.flag("ordered") ?? false
        if let text = attributes.nonEmpty("deletionRule") {
            if let rule = ModelDocument.DeleteRule(rawValue: text) {
                read.deleteRule = rule
            } else {
                attributes.report(
                    .error, "deletionRule=\"\(text)\" is none of Nullify, Cascade, Deny and No Action")
            }
        }
        read.property.userInfo = readChildren(of: element, attributes)
        attributes.finish()
        return read
    }

    func readFetchedProperty(_ element: ModelElement, owner: String) -> ModelDocument.FetchedProperty {
        var attributes = ElementAttributes(element, entity: owner, property: element.attributes["name"], list: list)
        var read = ModelDocument.FetchedProperty(name: attributes.required("name"))
        readCommon(&attributes, into: &read.property)
        for child in element.children {
            switch child.name {
            case "fetchRequest":
                read.fetchRequest = readFetchRequest(child, entity: owner, property: read.name)
            case "userInfo":
                read.property.userInfo = readUserInfo(child, entity: owner, property: read.name)
            default: attributes.unknown(child)
            }
        }
        attributes.finish()
        return read
    }

    private func readCommon(_ attributes: inout ElementAttributes, into property: inout ModelDocument.Property) {
        property.isOptional = attributes.flag("optional") ?? false
        property.isTransient = attributes.flag("transient") ?? false
        property.isIndexed = attributes.flag("indexed") ?? false
        property.isIndexedBySpotlight = attributes.flag("spotlightIndexingEnabled") ?? false
        property.isStoredInExternalRecord = attributes.flag("storedInTruthFile") ?? false
        property.isSyncable = attributes.flag("syncable") ?? false
        property.renamingIdentifier = attributes.nonEmpty("elementID")
        property.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    }

    /// The user info of a property that has no other children.
    private func readChildren(
        of element: ModelElement, _ attributes: ElementAttributes
    ) -> [String: ModelDocument.Value] {
        var userInfo: [String: ModelDocument.Value] = [:]
        for child in element.children {
            if child.name == "userInfo" {
                userInfo = readUserInfo(child, entity: attributes.entity, property: attributes.property)
            } else {
                attributes.unknown(child)
            }
        }
        return userInfo
    }
}
