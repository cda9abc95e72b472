import StrataModelFile

/// Writes a document as the XML of a "contents" file, in the layout and order of Xcode. Equal documents give equal
/// bytes.
struct ContentsWriter {
    private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private var indentation = ""

    typealias Pairs = [(name: String, value: String?)]

    mutating func write(_ document: ModelDocument) throws {
        var editor = document.editor.attributes
        let defaults = ["type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0"]
        editor.merge(defaults) { first, _ in first }
        var pairs: Pairs = ContentsReader.editorAttributes.map { ($0, editor[$0]) }
        pairs.append(("userDefinedModelVersionIdentifier", try Self.identifier(of: document)))
        let hasChildren =
            !(document.entities.isEmpty && document.composites.isEmpty && document.configurations.isEmpty
            && document.fetchRequests.isEmpty && document.editor.diagram.isEmpty)
        try element("model", pairs, if: hasChildren) { writer in
            for entity in document.entities { try writer.write(entity) }
            for composite in document.composites { try writer.write(composite) }
            for request in document.fetchRequests { try writer.write(request) }
            for configuration in document.configurations { writer.write(configuration) }
            guard !document.editor.diagram.isEmpty else { return }
            writer.element("elements", [], if: true) { writer in
                for entry in document.editor.diagram {
                    let keys = ["positionX", "positionY", "width", "height"]
                    writer.element("element", [("name", entry.name)] + keys.map { ($0, entry.frame[$0]) })
                }
            }
        }
    }

    private static func identifier(of document: ModelDocument) throws -> String {
        guard document.versionIdentifiers.count <= 1 else {
            throw ModelFileError(.unwritable, "the XML has room for one version identifier only")
        }
        return document.versionIdentifiers.first ?? ""
    }

    // MARK: Elements

    mutating func element<Failure: Error>(
        _ name: String, _ pairs: Pairs, if hasChildren: Bool,
        children: (inout ContentsWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(name, pairs)
        guard hasChildren else {
            text += "/>\n"
            return
        }
        text += ">\n"
        let outer = indentation
        indentation += "    "
        try children(&self)
        indentation = outer
        text += "\(indentation)</\(name)>\n"
    }

    mutating func element(_ name: String, _ pairs: Pairs) {
        open(name, pairs)
        text += "/>\n"
    }

    private mutating func open(_ name: String, _ pairs: Pairs) {
        text += "\(indentation)<\(name)"
        for case (let name, let value?) in pairs {
            text += " \(name)=\"\(Self.escape(value))\""
        }
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    static func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

    static func count(_ count: Int, unless omitted: Int = 0) -> String? { count == omitted ? nil : "\(count)" }

    // MARK: Parts of the model

    private mutating func write(_ composite: ModelDocument.Composite) throws {
        try element("composite", [("name", composite.name)], if: !composite.attributes.isEmpty) { writer in
            for attribute in composite.attributes { try writer.write(attribute, owner: composite.name) }
        }
    }

    private mutating func write(_ configuration: ModelDocument.Configuration) {
        let pairs: Pairs = [
            ("name", configuration.name), ("usedWithCloudKit", Self.yes(configuration.isUsedWithCloudKit)),
        ]
        element("configuration", pairs, if: !configuration.entityNames.isEmpty) { writer in
            for name in configuration.entityNames { writer.element("memberEntity", [("name", name)]) }
        }
    }

    mutating func write(_ request: ModelDocument.FetchRequest) throws {
        guard request.sorts.isEmpty, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil, request.prefetchedKeyPaths == nil, !request.refreshesRefetchedObjects
        else {
            throw ModelFileError(
                .unwritable,
                "fetch request '\(request.name)' has an order, properties, groups or prefetching; the XML can't say that"
            )
        }
        func no(_ flag: Bool) -> String? { flag ? nil : "NO" }
        element(
            "fetchRequest",
            [
                ("name", request.name), ("entity", request.entityName), ("predicateString", request.predicate),
                ("resultType", Self.count(request.resultType)), ("fetchLimit", Self.count(request.fetchLimit)),
                ("fetchOffset", Self.count(request.fetchOffset)),
                ("fetchBatchSize", Self.count(request.fetchBatchSize)),
                ("includeSubentities", no(request.includesSubentities)),
                ("includePropertyValues", no(request.includesPropertyValues)),
                ("includesPendingChanges", no(request.includesPendingChanges)),
                ("returnObjectsAsFaults", no(request.returnsObjectsAsFaults)),
                ("returnDistinctResults", Self.yes(request.returnsDistinctResults)),
            ])
    }

    mutating func write(_ userInfo: [String: ModelDocument.Value], of label: String) throws {
        guard !userInfo.isEmpty else { return }
        let entries = try userInfo.sorted { $0.key < $1.key }.map { key, value in
            guard case .string(let text) = value else {
                throw ModelFileError(.unwritable, "'\(key)' in the user info of '\(label)' is no text")
            }
            return (key, text)
        }
        element("userInfo", [], if: true) { writer in
            for (key, text) in entries { writer.element("entry", [("key", key), ("value", text)]) }
        }
    }
}
