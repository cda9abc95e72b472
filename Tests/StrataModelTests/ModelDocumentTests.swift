import Foundation
import Strata
import StrataModelFile
import StrataModelXML
import StrataTestKit
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
        #expect(attributes["price"]?.defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "9.95"))
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

    /// Eight composites of ten elements each, which are the next composite: a hundred million attributes.
    @Test func compositesThatMultiplyAreAnError() throws {
        var document = ModelDocument()
        for level in 0..<8 {
            var composite = ModelDocument.Composite(name: "C\(level)")
            for number in 0..<10 {
                var element = ModelDocument.Attribute(name: "e\(number)", type: level == 7 ? .string : .composite)
                element.compositeName = level == 7 ? nil : "C\(level + 1)"
                composite.attributes.append(element)
            }
            document.composites.append(composite)
        }
        var entity = ModelDocument.Entity(name: "A")
        entity.attributes = [ModelDocument.Attribute(name: "c", type: .composite)]
        entity.attributes[0].compositeName = "C0"
        document.entities = [entity]
        #expect(ModelLint.check(document).isEmpty)
        let error = #expect(throws: ModelError.self) { try NSManagedObjectModel(document: document) }
        #expect(error?.message.contains("over 100000 attributes") == true)
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
            let direct = try NSManagedObjectModel(document: document)
            #expect(model == direct)

            let momd = directory.appendingPathComponent("Shop.momd", isDirectory: true)
            let versions = [
                VersionedModel.Version(name: "One", document: ModelDocument()),
                VersionedModel.Version(name: "Two", document: document),
            ]
            try VersionedModel(versions: versions, currentName: "Two").writeCompiled(to: momd)
            #expect(NSManagedObjectModel(contentsOf: momd)?.entities.count == 4)
            // Programs that migrate version by version find the names there.
            let plist = try Data(contentsOf: momd.appendingPathComponent("VersionInfo.plist"))
            let info = try PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any]
            let listed = info?["NSManagedObjectModel_VersionHashes"] as? [String: Any]
            #expect(listed.map { $0.keys.sorted() } == ["One", "Two"])
            #expect(
                NSManagedObjectModel(contentsOf: momd.appendingPathComponent("One.mom"))?.entities.isEmpty == true)
            try VersionedModel(versions: [versions[0]], currentName: "One").writeCompiled(to: momd)
            #expect(!FileManager.default.fileExists(atPath: momd.appendingPathComponent("Two.mom").path))
        }
    }

    /// Compiling wrote through links, removed directories, and followed a version's name out of the directory.
    @Test func compilingTouchesNothingBesideItsFiles() throws {
        try ModelFixtures.withDirectory { directory in
            let files = FileManager.default
            let momd = directory.appendingPathComponent("Shop.momd", isDirectory: true)
            let letter = directory.appendingPathComponent("letter")
            try files.createDirectory(
                at: momd.appendingPathComponent("Folder.mom"), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: letter)
            for name in ["One.mom", "Old.mom", "VersionInfo.plist"] {
                try files.createSymbolicLink(at: momd.appendingPathComponent(name), withDestinationURL: letter)
            }
            let version = VersionedModel.Version(name: "One", document: ModelDocument())
            try VersionedModel(versions: [version], currentName: "One").writeCompiled(to: momd)
            #expect(try String(contentsOf: letter, encoding: .utf8) == "mine")
            #expect(
                try files.contentsOfDirectory(atPath: momd.path).sorted()
                    == ["Folder.mom", "One.mom", "VersionInfo.plist"])
            #expect(NSManagedObjectModel(contentsOf: momd.appendingPathComponent("One.mom")) != nil)
            let evil = VersionedModel.Version(name: "../evil", document: ModelDocument())
            let model = VersionedModel(versions: [evil], currentName: "../evil")
            #expect(throws: ModelFileError.self) { try model.writeCompiled(to: momd) }
            #expect(throws: ModelFileError.self) {
                try XcodeModel.write(model, to: directory.appendingPathComponent("Shop.xcdatamodeld"))
            }
            #expect(try files.contentsOfDirectory(atPath: directory.path).sorted() == ["Shop.momd", "letter"])
        }
    }

    @Test func damagedCompiledModelsAreErrors() throws {
        let data = try CompiledModel.data(of: try ModelFixtures.document())
        for length in stride(from: 0, to: data.count, by: 97) {
            #expect(throws: ModelFileError.self) { try CompiledModel.document(from: data.prefix(length)) }
        }
        var random = SeededGenerator(seed: 200)
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

    @Test func valuesInValuesAreKeptToADepthAndNoDeeper() throws {
        func document(depth: Int) -> ModelDocument {
            var value = ModelDocument.Value.string("innermost")
            for _ in 0..<depth { value = .array([value]) }
            var document = ModelDocument()
            document.entities = [ModelDocument.Entity(name: "A")]
            document.entities[0].userInfo = ["nested": value]
            return document
        }
        let shallow = document(depth: 30)
        #expect(try CompiledModel.document(from: try CompiledModel.data(of: shallow)) == shallow)
        let error = #expect(throws: ModelFileError.self) { try CompiledModel.data(of: document(depth: 60)) }
        #expect(error?.code == .unwritable)
    }

    /// A list in a list in a list, 200,000 deep: whoever follows it by calls uses up the stack.
    @Test func hostileNestingIsAnError() throws {
        let depth = 200_000
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        func add(_ object: [UInt8]) {
            offsets.append(bytes.count)
            bytes += object
        }
        func reference(_ number: Int) -> [UInt8] {
            [UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
        }
        add([0xd2] + reference(1) + reference(2) + reference(3) + reference(4))
        add([0x5f, 0x10, 17] + Array("StrataModelFormat".utf8))
        add([0x5b] + Array("StrataModel".utf8))
        add([0x10, 1])
        for number in 0..<depth { add([0xa1] + reference(number == depth - 1 ? 3 : 5 + number)) }
        let table = bytes.count
        for offset in offsets { bytes += [UInt8(offset >> 16), UInt8(offset >> 8 & 255), UInt8(offset & 255)] }
        func wide(_ number: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 255) } }
        bytes += [0, 0, 0, 0, 0, 0, 3, 3] + wide(offsets.count) + wide(0) + wide(table)
        #expect(throws: ModelFileError.self) { try CompiledModel.document(from: Data(bytes)) }
    }

    @Test func aNewerFormatIsToldApart() throws {
        let newer: [String: Any] = ["StrataModelFormat": 2, "StrataModel": [String: Any]()]
        let data = try PropertyListSerialization.data(fromPropertyList: newer, format: .binary, options: 0)
        let error = #expect(throws: ModelFileError.self) { try CompiledModel.document(from: data) }
        #expect(error?.code == .unsupportedVersion)
    }
}
