import Strata
import StrataBrowsing
import StrataModelFile

/// The model: a drawing of its entities, and for completion their names.
struct ModelPage {
    let query: Query
    let session: Session

    func content() -> PageContent {
        let entities = session.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var records: [[Cell]] = []
        for entity in entities {
            for property in entity.properties.sorted(by: { $0.name < $1.name }) {
                let relationship = property as? NSRelationshipDescription
                let attribute = property as? NSAttributeDescription
                let kind =
                    attribute.map { ObjectPage.typeName($0.attributeType) }
                    ?? relationship.map { $0.isToMany ? "to many" : "to one" } ?? "fetched"
                records.append([
                    .text(entity.name ?? ""), .text(property.name), .text(kind),
                    relationship?.destinationEntity?.name.map { .text($0) } ?? .absent,
                    relationship?.inverseRelationship.map { .text($0.name) } ?? .absent, .bool(property.isOptional),
                ])
            }
        }
        let columns = ["entity", "property", "kind", "destination", "inverse", "optional"]
        let table = CellMarkup.table(columns, records, at: query["at"], caption: "Properties")
        return PageContent(
            title: "Model", body: "\(ModelDrawing(entities, at: query["at"]).markup)\(table)", columns: columns,
            records: records, fields: [("entities", "[\(entities.map(Self.json).joined(separator: ","))]")])
    }

    private static func json(_ entity: NSEntityDescription) -> String {
        let attributes = entity.attributesByName.keys.sorted().map(QuotedText.of).joined(separator: ",")
        let relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }.map {
            "\(QuotedText.of($0.name)):\(QuotedText.of($0.destinationEntity?.name ?? ""))"
        }
        return """
            {"name":\(QuotedText.of(entity.name ?? "")),"attributes":[\(attributes)],\
            "relationships":{\(relationships.joined(separator: ","))}}
            """
    }
}
