import Foundation
import Strata
import StrataModelFile
import StrataModelXML
import Testing

/// Models made of documents, and documents of models.
@Suite struct ModelDocumentTests {
    @Test func everythingInADocumentIsInTheModel() throws {
        let model = try NSManagedObjectModel(document: try ModelFixtures.document(), module: "Shop")
        #expect(model.versionIdentifiers == ["7"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(book.managedObjectClassName == "Shop.Book" && book.superentity?.name == "Work")
        #expect(book.renamingIdentifier == "Volume" && book.versionHashModifier == "v2")
        #expect(book.superentity?.isAbstract == true && book.userInfo?["origin"] as? String == "fixture")
        #expect(book.superentity?.uniquenessConstraints as? [[String]] == [["identifier"]])
        #expect(model.entitiesByName["Shelf"]?.managedObjectClassName == "NSManagedObject")
        #expect(book.indexes.first?.elements.map(\.propertyName) == ["pages", "title"])
        #expect(book.indexes.first?.elements.first?.isAscending == false)

        let attributes = book.attributesByName
        #expect(attributes["pages"]?.defaultValue as? Int32 == 100 && attributes["pages"]?.type == .integer32)
        #expect(attributes["price"]?.defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "9.90"))
        #expect(attributes["isLent"]?.defaultValue as? Bool == true && attributes["isLent"]?.isOptional == false)
        #expect(attributes["published"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: -725_882_400))
        #expect(attributes["home"]?.defaultValue as? URL == URL(string: "https://swift.org"))
        #expect(attributes["cover"]?.allowsExternalBinaryDataStorage == true)
        #expect(attributes["tags"]?.valueTransformerName == "NSSecureUnarchiveFromData")
        #expect(attributes["tags"]?.preservesValueInHistoryOnDeletion == true)
        #expect(attributes["scratch"]?.isTransient == true)
        #expect((attributes["size"] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["width", "height"])
        let derived = attributes["authorCount"] as? NSDerivedAttributeDescription
        #expect(derived?.derivationExpression?.description == "authors.@count")
        #expect(attributes["title"]?.validationPredicates.count == 3)
        #expect(attributes["pages"]?.renamingIdentifier == "pageCount")

        let authors = try #require(book.relationshipsByName["authors"])
        #expect(authors.isOrdered && authors.minCount == 1 && authors.maxCount == 5)
        #expect(authors.inverseRelationship?.inverseRelationship === authors)
        #expect(book.relationshipsByName["shelf"]?.deleteRule == .denyDeleteRule)
        let fetched = book.propertiesByName["sameShelf"] as? NSFetchedPropertyDescription
        #expect(fetched?.fetchRequest?.predicate != nil)
        let long = try #require(model.fetchRequestTemplate(forName: "long"))
        #expect(long.fetchLimit == 10 && !long.includesSubentities && long.returnsDistinctResults)
        #expect(model.entities(forConfigurationName: "Cloud")?.map(\.name) == ["Shelf"])
    }

    /// What a document says of the model: not what only the editor and the code generation use.
    private func modelPart(of document: ModelDocument) -> ModelDocument {
        var part = document
        part.editor = ModelDocument.Editor()
        part.configurations = part.configurations.map {
            var configuration = ModelDocument.Configuration(name: $0.name)
            configuration.entityNames = $0.entityNames
            return configuration
        }
        for position in part.entities.indices {
            part.entities[position].codeGeneration = .manual
            part.entities[position].isSyncable = true
            for index in part.entities[position].attributes.indices {
                part.entities[position].attributes[index].usesScalarType = nil
            }
            for index in part.entities[position].relationships.indices {
                part.entities[position].relationships[index].property.isSyncable = false
            }
        }
        part.entities.sort { $0.name < $1.name }
        return part
    }

    @Test func aModelGivesTheDocumentThatItWasMadeOf() throws {
        let document = modelPart(of: try ModelFixtures.document())
        let again = try NSManagedObjectModel(document: document).document()
        #expect(again.entities.map(\.name) == document.entities.map(\.name))
        for (one, other) in zip(again.entities, document.entities) {
            #expect(one.attributes == other.attributes)
            #expect(one.relationships == other.relationships)
            #expect(one.fetchedProperties == other.fetchedProperties)
            #expect(one.indexes == other.indexes)
        }
        #expect(again.composites == document.composites && again.fetchRequests == document.fetchRequests)
        #expect(again.configurations == document.configurations)
    }

    @Test func aModelMadeInCodeIsTheSameAfterItWasWrittenAsXML() throws {
        let model = try NSManagedObjectModel(document: try ModelFixtures.document())
        let xml = try XcodeModel.data(of: try model.document())
        let read = try NSManagedObjectModel(document: try XcodeModel.read(xml, file: "again").document)
        #expect(read == model)
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test(arguments: [
        ("<entity name=\"A\"/><entity name=\"A\"/>", "two entities are named 'A'"),
        ("<entity name=\"A\" parentEntity=\"A\"/>", "would inherit from itself"),
        ("<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/>", "would inherit from itself"),
        ("<entity name=\"A\" parentEntity=\"B\"/>", "inherits from 'B'"),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/><attribute name=\"x\" "
                + "attributeType=\"String\"/></entity>", "two properties named 'x'"
        ),
        ("<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"B\"/></entity>", "leads to 'B'"),
        ("<entity name=\"A\"><relationship name=\"r\"/></entity>", "has no destination"),
        (
            "<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" inverseName=\"q\"/></entity>",
            "the inverse of relationship 'A.r', 'A.q'"
        ),
        (
            "<entity name=\"A\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></entity>"
                + "<composite name=\"C\"><attribute name=\"d\" attributeType=\"Composite\" composite=\"C\"/></composite>",
            "contains itself"
        ),
        (
            "<entity name=\"A\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></entity>",
            "which is not there"
        ),
        ("<configuration name=\"c\"><memberEntity name=\"A\"/></configuration>", "has 'A'"),
        (
            "<entity name=\"A\"/><fetchRequest name=\"f\" entity=\"A\" predicateString=\"a ==\"/>",
            "the predicate of fetch request 'f'"
        ),
        (
            "<entity name=\"A\"><fetchIndex name=\"i\"><fetchIndexElement property=\"x\"/></fetchIndex></entity>",
            "names 'x', which is no property"
        ),
        (
            "<entity name=\"A\"><attribute name=\"d\" attributeType=\"Integer 64\" derived=\"YES\" "
                + "derivationExpression=\"((\"/></entity>", "the expression of attribute 'A.d'"
        ),
    ])
    func aDocumentThatContradictsItselfIsAnErrorAndDoesNotStopTheProgram(body: String, expected: String) throws {
        let document = try ModelFixtures.document("<model>\(body)</model>")
        let error = #expect(throws: ModelError.self) { try NSManagedObjectModel(document: document) }
        #expect(error?.code == .invalidModel && error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func whatNoFileCanSayIsAnError() throws {
        let model = NSManagedObjectModel()
        model.versionIdentifiers = [7]
        let error = #expect(throws: ModelError.self) { try model.document() }
        #expect(error?.code == .notEncodable)
    }

    // MARK: Compiled models

    @Test func aCompiledModelIsReadWithoutXML() throws {
        try ModelFixtures.withDirectory { directory in
            let document = try ModelFixtures.document()
            let file = directory.appendingPathComponent("Shop.mom")
            try CompiledModel.data(of: document).write(to: file)
            let model = try #require(NSManagedObjectModel(contentsOf: file))
            #expect(model == (try NSManagedObjectModel(document: document)))

            let momd = directory.appendingPathComponent("Shop.momd", isDirectory: true)
            let versions = [
                VersionedModel.Version(name: "One", document: ModelDocument()),
                VersionedModel.Version(name: "Two", document: document),
            ]
            try VersionedModel(versions: versions, currentName: "Two").writeCompiled(to: momd)
            #expect(NSManagedObjectModel(contentsOf: momd)?.entities.count == 4)
            #expect(
                NSManagedObjectModel(contentsOf: momd.appendingPathComponent("One.mom"))?.entities.isEmpty == true)
            try VersionedModel(versions: [versions[0]], currentName: "One").writeCompiled(to: momd)
            #expect(!FileManager.default.fileExists(atPath: momd.appendingPathComponent("Two.mom").path))
        }
    }

    @Test func damagedCompiledModelsAreErrors() throws {
        let data = try CompiledModel.data(of: try ModelFixtures.document())
        for length in stride(from: 0, to: data.count, by: 97) {
            #expect(throws: ModelFileError.self) { try CompiledModel.document(from: data.prefix(length)) }
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var damaged = data
            for _ in 0..<4 {
                damaged[Int.random(in: 8..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // Whatever comes of it, the program goes on.
            if let document = try? CompiledModel.document(from: damaged) {
                _ = try? NSManagedObjectModel(document: document)
            }
        }
    }

    @Test func aNewerFormatIsToldApart() throws {
        let newer: [String: Any] = ["StrataModelFormat": 2, "StrataModel": [String: Any]()]
        let data = try PropertyListSerialization.data(fromPropertyList: newer, format: .binary, options: 0)
        let error = #expect(throws: ModelFileError.self) { try CompiledModel.document(from: data) }
        #expect(error?.code == .unsupportedVersion)
    }
}
