import StrataModelFile
import StrataTestKit

extension MappingFixture {
    /// A model as Xcode's editor archives it in mapping models.
    static func snapshot(_ document: ModelDocument) -> [UInt8] {
        let writer = ArchiveWriter()
        let places = Dictionary(uniqueKeysWithValues: document.entities.map { ($0.name, writer.reserve()) })
        var relationships: [String: Int] = [:]
        for entity in document.entities {
            for relationship in entity.relationships {
                relationships["\(entity.name).\(relationship.name)"] = writer.reserve()
            }
        }
        for entity in document.entities {
            var properties: [(String, ArchiveWriter.Node)] = entity.attributes.map { attribute in
                let entries: [(String, ArchiveWriter.Node)] = [
                    ("XD_PAttK_attributeType", .integer(number(attribute.type)))
                ]
                let all = fields(writer, attribute.property, "XD_PAtt_Stereotype", entries)
                return (attribute.name, writer.object("XDPMAttribute", all))
            }
            for relationship in entity.relationships {
                let place = relationships["\(entity.name).\(relationship.name)"] ?? 0
                let inverse = relationships["\(relationship.destinationName).\(relationship.inverseName ?? "")"] ?? 0
                let entries: [(String, ArchiveWriter.Node)] = [
                    ("XD_PRK_minCount", .integer(Int64(relationship.minCount))),
                    ("XD_PRK_maxCount", .integer(Int64(relationship.maxCount))), ("XD_PRK_deleteRule", .integer(1)),
                    ("XD_PRK_ordered", .bool(relationship.isOrdered)),
                    ("XD_PRK_destination", .uid(places[relationship.destinationName] ?? 0)),
                    ("XD_PRK_inverseRelationship", .uid(inverse)),
                ]
                writer.fill(
                    place, "XDPMRelationship", fields(writer, relationship.property, "XD_PR_Stereotype", entries))
                properties.append((relationship.name, .uid(place)))
            }
            let parents = entity.parentName.flatMap { places[$0] }.map { [$0] } ?? []
            let generalizations = parents.map { writer.object("XDUMLGeneralizationImp", [("_general", .uid($0))]) }
            let entries: [(String, ArchiveWriter.Node)] = [
                ("XD_PSK_versionHashModifier", entity.versionHashModifier.map { writer.string($0) } ?? .uid(0)),
                ("XD_PSK_elementID", .uid(0)), ("XD_PSK_entityClassName", writer.string(entity.name)),
                (
                    "XDPMUniquenessConstraints",
                    writer.list(
                        entity.uniquenessConstraints.map { names in writer.list(names.map { writer.string($0) }) })
                ),
            ]
            writer.fill(
                places[entity.name] ?? 0, "XDPMEntity",
                [
                    ("_name", writer.string(entity.name)), ("_isAbstract", .bool(entity.isAbstract)),
                    ("XDBucketForStereotypesstorage", stereotypes(writer, [("XD_PStereotype", entries)])),
                    ("XDBucketForOwnedAttributesstorage", writer.dictionary(properties)),
                    ("XDBucketForGeneralizationsstorage", writer.list(generalizations)),
                ])
        }
        let classes = document.entities.map { ($0.name, ArchiveWriter.Node.uid(places[$0.name] ?? 0)) }
        let package = writer.object("XDModelPackage", [("XDBucketForClassesstorage", writer.dictionary(classes))])
        return writer.bytes(
            root: writer.object("XDPMModel", [("_xd_rootPackage", package), ("_modelVersionIdentifier", .uid(0))]))
    }

    private static func number(_ type: ModelDocument.AttributeType) -> Int64 {
        switch type {
        case .integer16: 100
        case .string: 700
        default: 0
        }
    }

    private static func fields(
        _ writer: ArchiveWriter, _ property: ModelDocument.Property, _ stereotype: String,
        _ entries: [(String, ArchiveWriter.Node)]
    ) -> [(String, ArchiveWriter.Node)] {
        let common: [(String, ArchiveWriter.Node)] = [
            ("XD_PPSK_isOptional", .bool(property.isOptional)), ("XD_PPSK_isTransient", .bool(property.isTransient)),
            ("XD_PPSK_versionHashModifier", .uid(0)), ("XD_PPSK_elementID", .uid(0)),
        ]
        return [
            ("_name", writer.string(property.name)),
            (
                "XDBucketForStereotypesstorage",
                stereotypes(writer, [("XD_PPropStereotype", common), (stereotype, entries)])
            ),
        ]
    }

    private static func stereotypes(
        _ writer: ArchiveWriter, _ all: [(String, [(String, ArchiveWriter.Node)])]
    ) -> ArchiveWriter.Node {
        writer.dictionary(
            all.map { name, entries in
                let holders = entries.map { ($0.0, writer.object("XDUMLPropertyImp", [("_default", $0.1)])) }
                let stereotype = writer.object(
                    "XDUMLStereotypeImp", [("XDBucketForOwnedAttributesstorage", writer.dictionary(holders))])
                return (name, stereotype)
            })
    }
}
