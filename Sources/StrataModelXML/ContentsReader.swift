import StrataModelFile

/// Makes a document of the elements of a "contents" file.
struct ContentsReader {
    let list: DiagnosticList

    /// What only Xcode's editor uses, of the root element's attributes.
    static let editorAttributes = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
        "usedWithCloudKit", "usedWithSwiftData", "iOSVersion", "macOSVersion", "tvOSVersion", "watchOSVersion",
        "visionOSVersion",
    ]

    func read(_ root: ModelElement) -> ModelDocument {
        var document = ModelDocument()
        guard root.name == "model" else {
            list.add(ModelDiagnostic(.error, "the root is <\(root.name)> and not <model>"), line: root.line)
            return document
        }
        var attributes = ElementAttributes(root, list: list)
        for name in Self.editorAttributes {
            if let value = attributes.text(name) { document.editor.attributes[name] = value }
        }
        if let version = document.editor.attributes["documentVersion"], version != "1.0" {
            attributes.report(.warning, "documentVersion \(version) is not known; 1.0 is")
        }
        if let identifier = attributes.nonEmpty("userDefinedModelVersionIdentifier") {
            document.versionIdentifiers = [identifier]
        }
        for child in root.children {
            switch child.name {
            case "entity": document.entities.append(readEntity(child))
            case "composite": document.composites.append(readComposite(child))
            case "configuration": document.configurations.append(readConfiguration(child))
            case "fetchRequest": document.fetchRequests.append(readFetchRequest(child))
            case "elements": readDiagram(child, into: &document)
            default: attributes.unknown(child)
            }
        }
        attributes.finish()
        return document
    }

    // MARK: Parts of the model

    private func readComposite(_ element: ModelElement) -> ModelDocument.Composite {
        var attributes = ElementAttributes(element, entity: element.attributes["name"], list: list)
        var composite = ModelDocument.Composite(name: attributes.required("name"))
        for child in element.children {
            if child.name == "attribute" {
                composite.attributes.append(readAttribute(child, owner: composite.name))
            } else {
                attributes.unknown(child)
            }
        }
        attributes.finish()
        return composite
    }

    private func readConfiguration(_ element: ModelElement) -> ModelDocument.Configuration {
        var attributes = ElementAttributes(element, entity: element.attributes["name"], list: list)
        var configuration = ModelDocument.Configuration(name: attributes.required("name"))
        configuration.isUsedWithCloudKit = attributes.flag("usedWithCloudKit") ?? false
        configuration.entityNames = readNames(of: element, child: "memberEntity", attribute: "name", attributes)
        attributes.finish()
        return configuration
    }

    func readFetchRequest(
        _ element: ModelElement, entity: String? = nil, property: String? = nil
    ) -> ModelDocument.FetchRequest {
        var attributes = ElementAttributes(
            element, entity: entity, property: property ?? element.attributes["name"], list: list)
        var request = ModelDocument.FetchRequest(
            name: attributes.required("name"), entityName: attributes.required("entity"))
        request.predicate = attributes.nonEmpty("predicateString")
        request.resultType = attributes.count("resultType") ?? request.resultType
        request.fetchLimit = attributes.count("fetchLimit") ?? request.fetchLimit
        request.fetchOffset = attributes.count("fetchOffset") ?? request.fetchOffset
        request.fetchBatchSize = attributes.count("fetchBatchSize") ?? request.fetchBatchSize
        request.includesSubentities = attributes.flag("includeSubentities") ?? request.includesSubentities
        request.includesPropertyValues = attributes.flag("includePropertyValues") ?? request.includesPropertyValues
        request.includesPendingChanges =
            attributes.flag("includesPendingChanges") ?? attributes.flag("includePendingChanges")
            ?? request.includesPendingChanges
        request.returnsObjectsAsFaults = attributes.flag("returnObjectsAsFaults") ?? request.returnsObjectsAsFaults
        request.returnsDistinctResults = attributes.flag("returnDistinctResults") ?? request.returnsDistinctResults
        attributes.expectNoChildren()
        attributes.finish()
        return request
    }

    private func readDiagram(_ element: ModelElement, into document: inout ModelDocument) {
        let attributes = ElementAttributes(element, list: list)
        for child in element.children {
            guard child.name == "element" else {
                attributes.unknown(child)
                continue
            }
            var element = ElementAttributes(child, entity: child.attributes["name"], list: list)
            let name = element.required("name")
            var frame: [String: String] = [:]
            for key in ["positionX", "positionY", "width", "height"] {
                if let value = element.text(key) { frame[key] = value }
            }
            document.editor.diagram.append(ModelDocument.DiagramElement(name: name, frame: frame))
            element.expectNoChildren()
            element.finish()
        }
        attributes.finish()
    }

    // MARK: Entities

    private func readEntity(_ element: ModelElement) -> ModelDocument.Entity {
        var attributes = ElementAttributes(element, entity: element.attributes["name"], list: list)
        var entity = ModelDocument.Entity(name: attributes.required("name"))
        if let className = attributes.nonEmpty("representedClassName"), className != "NSManagedObject" {
            let parts = className.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            entity.className = String(parts[parts.count - 1])
            entity.classModule = parts.count == 2 ? String(parts[0]) : nil
        }
        entity.parentName = attributes.nonEmpty("parentEntity")
        entity.isAbstract = attributes.flag("isAbstract") ?? false
        entity.isSyncable = attributes.flag("syncable") ?? true
        entity.renamingIdentifier = attributes.nonEmpty("elementID")
        entity.versionHashModifier = attributes.nonEmpty("versionHashModifier")
        entity.displayNameExpression = attributes.nonEmpty("coreSpotlightDisplayNameExpression")
        if let generation = attributes.nonEmpty("codeGenerationType") {
            if let known = ModelDocument.CodeGeneration(rawValue: generation) {
                entity.codeGeneration = known
            } else {
                attributes.report(.error, "codeGenerationType=\"\(generation)\" is neither class nor category")
            }
        }
        for child in element.children {
            readPart(child, of: &entity, attributes)
        }
        attributes.finish()
        return entity
    }

    private func readPart(
        _ child: ModelElement, of entity: inout ModelDocument.Entity, _ attributes: ElementAttributes
    ) {
        switch child.name {
        case "attribute": entity.attributes.append(readAttribute(child, owner: entity.name))
        case "relationship": entity.relationships.append(readRelationship(child, owner: entity.name))
        case "fetchedProperty": entity.fetchedProperties.append(readFetchedProperty(child, owner: entity.name))
        case "fetchIndex": entity.indexes.append(readIndex(child, owner: entity.name))
        case "uniquenessConstraints":
            entity.uniquenessConstraints += readLists(
                child, of: entity.name, list: "uniquenessConstraint", item: "constraint")
        case "compoundIndexes":
            entity.compoundIndexes += readLists(child, of: entity.name, list: "compoundIndex", item: "index")
        case "userInfo": entity.userInfo = readUserInfo(child, entity: entity.name, property: nil)
        default: attributes.unknown(child)
        }
    }

    private func readIndex(_ element: ModelElement, owner: String) -> ModelDocument.FetchIndex {
        var attributes = ElementAttributes(
            element, entity: owner, property: element.attributes["name"], list: list)
        var index = ModelDocument.FetchIndex(name: attributes.required("name"))
        index.partialPredicate = attributes.nonEmpty("partialIndexPredicate")
        for child in element.children {
            guard child.name == "fetchIndexElement" else {
                attributes.unknown(child)
                continue
            }
            index.elements.append(readIndexElement(child, owner: owner, index: index.name))
        }
        attributes.finish()
        return index
    }

    private func readIndexElement(
        _ element: ModelElement, owner: String, index: String
    ) -> ModelDocument.FetchIndex.Element {
        var attributes = ElementAttributes(element, entity: owner, property: index, list: list)
        var read = ModelDocument.FetchIndex.Element(
            propertyName: attributes.nonEmpty("property"), expression: attributes.nonEmpty("expression"))
        if read.propertyName == nil && read.expression == nil {
            attributes.report(.error, "<fetchIndexElement> has neither a property nor an expression")
        }
        if let type = attributes.nonEmpty("expressionType") {
            read.expressionType = ModelDocument.AttributeType(rawValue: type)
            if read.expressionType == nil { attributes.report(.error, "expressionType=\"\(type)\" is no type") }
        }
        switch attributes.nonEmpty("type") {
        case nil, "Binary": break
        case "RTree": read.isRTree = true
        case let type?: attributes.report(.error, "type=\"\(type)\" is neither Binary nor RTree")
        }
        switch attributes.nonEmpty("order") {
        case nil, "ascending": break
        case "descending": read.isAscending = false
        case let order?: attributes.report(.error, "order=\"\(order)\" is neither ascending nor descending")
        }
        attributes.expectNoChildren()
        attributes.finish()
        return read
    }

    // MARK: Lists

    /// Lists of names: `<outer><list><item value="…"/>…</list>…</outer>`.
    private func readLists(
        _ element: ModelElement, of entity: String, list name: String, item: String
    ) -> [[String]] {
        let attributes = ElementAttributes(element, entity: entity, list: list)
        var lists: [[String]] = []
        for child in element.children {
            guard child.name == name else {
                attributes.unknown(child)
                continue
            }
            let inner = ElementAttributes(child, entity: entity, list: list)
            lists.append(readNames(of: child, child: item, attribute: "value", inner))
            inner.finish()
        }
        attributes.finish()
        return lists
    }

    private func readNames(
        of element: ModelElement, child name: String, attribute: String, _ attributes: ElementAttributes
    ) -> [String] {
        element.children.compactMap { child in
            guard child.name == name else {
                attributes.unknown(child)
                return nil
            }
            var item = ElementAttributes(child, entity: attributes.entity, list: list)
            let value = item.required(attribute)
            item.expectNoChildren()
            item.finish()
            return value
        }
    }

    func readUserInfo(
        _ element: ModelElement, entity: String?, property: String?
    ) -> [String: ModelDocument.Value] {
        let attributes = ElementAttributes(element, entity: entity, property: property, list: list)
        var userInfo: [String: ModelDocument.Value] = [:]
        for child in element.children {
            guard child.name == "entry" else {
                attributes.unknown(child)
                continue
            }
            var entry = ElementAttributes(child, entity: entity, property: property, list: list)
            // An empty key is one that Xcode writes for a row that nobody has filled in.
            let key = entry.text("key") ?? ""
            if userInfo.updateValue(.string(entry.text("value") ?? ""), forKey: key) != nil {
                entry.report(.warning, "the user info has two entries for '\(key)'; the last one counts")
            }
            entry.expectNoChildren()
            entry.finish()
        }
        attributes.finish()
        return userInfo
    }
}
