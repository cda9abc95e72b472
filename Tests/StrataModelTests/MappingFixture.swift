import Foundation
import StrataModelFile
import StrataModelXML
import StrataTestKit

/// A model in two versions, and what Xcode would write down about the way between them.
enum MappingFixture {
    /// Persons with pets, and things that are to go.
    static func first() -> ModelDocument {
        var document = ModelDocument()
        var person = ModelDocument.Entity(name: "Person")
        person.attributes = [attribute("age", .integer16), attribute("name", .string)]
        person.relationships = [relationship("pets", "Pet", "owner", isToMany: true)]
        var pet = ModelDocument.Entity(name: "Pet")
        pet.attributes = [attribute("name", .string)]
        pet.relationships = [relationship("owner", "Person", "pets", isToMany: false)]
        var dog = ModelDocument.Entity(name: "Dog")
        dog.parentName = "Pet"
        var thing = ModelDocument.Entity(name: "Thing")
        thing.attributes = [attribute("kind", .string)]
        document.entities = [dog, person, pet, thing]
        return document
    }

    /// Persons have years as a text, pets a nickname; there are shops.
    static func second() -> ModelDocument {
        var document = first()
        document.entities.removeAll { $0.name == "Thing" }
        document.entities[1].attributes = [attribute("fullName", .string), attribute("years", .string)]
        document.entities[1].versionHashModifier = "2"
        document.entities[2].attributes.append(attribute("nickname", .string))
        var shop = ModelDocument.Entity(name: "Shop")
        shop.isAbstract = false
        shop.attributes = [attribute("street", .string), attribute("town", .string)]
        shop.uniquenessConstraints = [["street", "town"]]
        document.entities.append(shop)
        return document
    }

    private static func attribute(_ name: String, _ type: ModelDocument.AttributeType) -> ModelDocument.Attribute {
        var attribute = ModelDocument.Attribute(name: name, type: type)
        attribute.isOptional = true
        return attribute
    }

    private static func relationship(
        _ name: String, _ destination: String, _ inverse: String, isToMany: Bool
    ) -> ModelDocument.Relationship {
        var relationship = ModelDocument.Relationship(name: name, destinationName: destination)
        relationship.isOptional = true
        relationship.maxCount = isToMany ? 0 : 1
        relationship.inverseName = inverse
        relationship.inverseEntityName = destination
        return relationship
    }

    // MARK: Files

    /// Writes both versions as "Zoo.xcdatamodeld".
    static func writeModels(to directory: URL) throws -> URL {
        let url = directory.appendingPathComponent("Zoo.xcdatamodeld", isDirectory: true)
        let versions = [("Zoo", first()), ("Zoo 2", second())]
        try XcodeModel.write(
            VersionedModel(
                versions: versions.map { VersionedModel.Version(name: $0.0, document: $0.1) }, currentName: "Zoo 2"),
            to: url)
        return url
    }

    static func write(_ xml: String, named name: String = "ZooToZoo2", to directory: URL) throws -> URL {
        let url = directory.appendingPathComponent("\(name).xcmappingmodel", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(xml.utf8).write(to: url.appendingPathComponent("xcmapping.xml"))
        return url
    }

    /// The bytes of an expression.
    static func expression(_ make: (ArchiveWriter) -> ArchiveWriter.Node) -> [UInt8] {
        let writer = ArchiveWriter()
        return writer.bytes(root: make(writer))
    }

    /// What the mapping model says.
    struct Content {
        var source: [UInt8]? = MappingFixture.snapshot(MappingFixture.first())
        var destination: [UInt8]? = MappingFixture.snapshot(MappingFixture.second())
        /// Of a person's years.
        var years: [UInt8]? = MappingFixture.expression { writer in
            writer.function(
                writer.variable("entityPolicy"), "years:", [writer.keyPath(writer.variable("source"), "age")])
        }
        var policy = "YearsPolicy"
        /// More attributes of the mapping of persons.
        var more = ""
        /// The name of an attribute of persons.
        var renamed = "fullName"
    }

    /// The objects stand in no order, as in Xcode's files.
    static func xml(_ content: Content = Content()) -> String {
        func data(_ name: String, _ bytes: [UInt8]?) -> String {
            guard let bytes else { return "" }
            let text = Data(bytes).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
            return "<attribute name=\"\(name)\" type=\"binary\">\(text)\n</attribute>"
        }
        func text(_ name: String, _ value: String) -> String {
            value.isEmpty ? "" : "<attribute name=\"\(name)\" type=\"string\">\(value)</attribute>"
        }
        func entity(
            _ id: String, _ number: Int, _ source: String, _ destination: String, policy: String = "",
            attributes: String, relationships: String = "", more: String = ""
        ) -> String {
            """
            <object type="XDDEVENTITYMAPPING" id="\(id)">
            \(text("migrationpolicyclassname", policy))\(text("sourcename", source))\(text("destinationname", destination))
            <attribute name="mappingtypename" type="string">Undefined</attribute>
            <attribute name="mappingnumber" type="int16">\(number)</attribute>
            <attribute name="autogenerateexpression" type="bool">1</attribute>\(more)
            <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z1"></relationship>
            <relationship name="attributemappings" type="0/0" idrefs="\(attributes)"></relationship>
            <relationship name="relationshipmappings" type="0/0" idrefs="\(relationships)"></relationship>
            </object>
            """
        }
        func property(_ kind: String, _ id: String, _ name: String, _ value: [UInt8]? = nil) -> String {
            """
            <object type="XDDEV\(kind)MAPPING" id="\(id)">
            \(data("valueexpressiondata", value))
            \(kind == "RELATIONSHIP" ? "<attribute name=\"autogenerateexpression\" type=\"bool\">1</attribute>" : "")
            \(text("name", name))
            </object>
            """
        }
        let name = expression { $0.keyPath($0.variable("source"), "name") }
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
            <databaseInfo><version>134481920</version><nextObjectID>120</nextObjectID></databaseInfo>
            \(property("ATTRIBUTE", "z20", "street"))
            \(entity("z5", 4, "", "Shop", attributes: "z20"))
            \(property("RELATIONSHIP", "z15", "owner"))
            <object type="XDDEVMAPPINGMODEL" id="z1">
            \(text("sourcemodelpath", "App/Zoo.xcdatamodeld/Zoo.xcdatamodel"))\(data("sourcemodeldata", content.source))
            \(text("destinationmodelpath", "App/Zoo.xcdatamodeld/Zoo 2.xcdatamodel"))
            \(data("destinationmodeldata", content.destination))
            <relationship name="entitymappings" type="0/0" idrefs="z5 z3 z2 z6 z4"></relationship>
            </object>
            \(entity("z2", 1, "Person", "Person", policy: content.policy, attributes: "z10 z11", relationships: "z12", more: content.more))
            \(property("ATTRIBUTE", "z10", content.renamed, name))
            \(property("ATTRIBUTE", "z11", "years", content.years))
            \(property("RELATIONSHIP", "z12", "pets"))
            \(entity("z3", 2, "Pet", "Pet", attributes: "z13 z14", relationships: "z15"))
            \(property("ATTRIBUTE", "z13", "nickname"))
            \(property("ATTRIBUTE", "z14", "name"))
            \(entity("z4", 3, "Dog", "Dog", attributes: "z16", relationships: "z17"))
            \(property("ATTRIBUTE", "z16", "name"))
            \(property("RELATIONSHIP", "z17", "owner"))
            \(entity("z6", 5, "Thing", "", attributes: ""))
            </database>
            """
    }
}
