import Foundation
import Strata
import StrataBrowsing
import StrataModelFile

/// One object with all its values. Where its relationships lead is looked up when they are followed.
struct ObjectPage {
    let inspector: Inspector
    let query: Query
    let session: Session

    func content() throws -> PageContent {
        try inspector.read(session) { context in
            let object = try ObjectLookup.object(try query.required("id"), session, context)
            return content(object)
        }
    }

    private func content(_ object: NSManagedObject) -> PageContent {
        let columns = EntityColumns(object.entity)
        let cells = columns.cells(object)
        let uri = object.objectID.uriRepresentation().absoluteString
        let id = CellMarkup.objectName(uri)
        let toMany = object.entity.relationshipsByName.values.filter { $0.isToMany && !$0.isTransient }
            .sorted { $0.name < $1.name }
        let attributes = zip(columns.attributes, cells).map { attribute, cell -> Markup in
            row(attribute.name, note: Self.typeName(attribute.attributeType), value(cell, attribute.name, id))
        }
        let references = zip(columns.references, cells.dropFirst(columns.attributes.count)).map {
            relationship, cell -> Markup in
            row(
                relationship.name, note: "to \(relationship.destinationEntity?.name ?? "")",
                CellMarkup.short(cell, at: query["at"]))
        }
        let memberRows = toMany.map { relationship -> Markup in
            row(
                relationship.name, note: "to many \(relationship.destinationEntity?.name ?? "")",
                "<a href=\"\(members(relationship, of: id))\">Members</a>")
        }
        let records = zip(columns.names, cells).map { [Cell.text($0), $1] }
        let links = toMany.map { "\(QuotedText.of($0.name)):\(QuotedText.of(members($0, of: id).text))" }
        let entity = object.entity.name ?? ""
        return PageContent(
            title: CellMarkup.decoded(id),
            body: """
                <p><a href="\(Link("/objects", ["entity": entity, "at": query["at"]]))">All of \(entity)</a> ·
                <a href="\(Link("/history", ["entity": entity]))">History of \(entity)</a></p>
                <div class="scroll"><table id="results" class="values"><caption>Values and relationships</caption>
                <thead><tr><th scope="col">property</th><th scope="col">value</th></tr></thead>
                <tbody>\(attributes)\(references)\(memberRows)</tbody></table></div>
                <form class="fields" action="/object" method="get">\(PageFrame.hidden("id", query["id"]))
                \(PageFrame.field("at", "At", query["at"], hint: "transaction or time"))<button>Show</button></form>
                """,
            columns: ["property", "value"], records: records,
            fields: [("uri", QuotedText.of(uri)), ("toMany", "{\(links.joined(separator: ","))}")])
    }

    private func members(_ relationship: NSRelationshipDescription, of id: String) -> Link {
        Link(
            "/objects",
            [
                "entity": relationship.destinationEntity?.name, "of": id, "by": relationship.name, "at": query["at"],
            ])
    }

    private func row(_ name: String, note: String, _ value: Markup) -> Markup {
        """
        <tr tabindex="-1"><th scope="row"><bdi>\(Cell.visible(CellMarkup.cut(name, Limits.cellCharacters)))</bdi>
        <span class="note">\(note)</span></th><td>\(value)</td></tr>

        """
    }

    // MARK: Values

    /// Long values by their beginning, with a link to the whole; images as such.
    private func value(_ cell: Cell, _ name: String, _ id: String) -> Markup {
        let link = Link("/value", ["id": id, "name": name, "at": query["at"]])
        switch cell {
        case .text(let text) where !text.isEmpty:
            let size = text.utf8.count
            var whole = Markup()
            if size > Limits.textCharacters || text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" }) {
                whole = " <a href=\"\(link)\">All of it, \(ByteSize.text(size))</a>"
            }
            return "<pre class=\"text\"><bdi>\(CellMarkup.cut(text, Limits.textCharacters))</bdi></pre>\(whole)"
        case .data(let data):
            let whole: Markup = "<a href=\"\(link)\">All of it, \(ByteSize.text(data.count))</a>"
            guard ValueAnswer.imageType(data) == nil else {
                return """
                    <a href="\(link)"><img class="image" src="\(link)" alt="Image, \(ByteSize.text(data.count))"></a><br>\(whole)
                    """
            }
            return "<pre class=\"bytes\">\(Self.dump(data.prefix(128)))</pre>\(whole)"
        default: return CellMarkup.short(cell, at: query["at"])
        }
    }

    /// Sixteen bytes a line, as digits and as letters.
    static func dump(_ data: Data) -> String {
        let bytes = [UInt8](data)
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let digits = line.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            let letters = line.map { 0x20..<0x7F ~= $0 ? String(UnicodeScalar($0)) : "." }.joined()
            return digits.padding(toLength: 48, withPad: " ", startingAt: 0) + letters
        }.joined(separator: "\n")
    }

    static func typeName(_ type: NSAttributeType) -> String {
        switch type {
        case .integer16AttributeType: "integer 16"
        case .integer32AttributeType: "integer 32"
        case .integer64AttributeType: "integer 64"
        case .decimalAttributeType: "decimal"
        case .doubleAttributeType: "double"
        case .floatAttributeType: "float"
        case .stringAttributeType: "string"
        case .booleanAttributeType: "boolean"
        case .dateAttributeType: "date"
        case .binaryDataAttributeType: "binary data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "transformable"
        case .objectIDAttributeType: "object ID"
        case .compositeAttributeType: "composite"
        default: "undefined"
        }
    }
}
