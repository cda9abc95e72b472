import Foundation
import StrataModelFile
import StrataModelXML
import Testing

/// What the elements and attributes of Xcode's XML become.
@Suite struct XcodeModelReadingTests {
    @Test func everythingInTheFileIsReadWithoutADiagnostic() throws {
        #expect(try ModelFixtures.diagnostics(ModelFixtures.complete).isEmpty)
    }

    @Test func entitiesAreRead() throws {
        let document = try ModelFixtures.document()
        #expect(document.versionIdentifiers == ["7"])
        #expect(document.entities.map(\.name) == ["Work", "Book", "Author", "Shelf"])
        let work = try #require(document.entity(named: "Work"))
        #expect(work.isAbstract && work.className == "Work" && work.classModule == nil)
        #expect(work.uniquenessConstraints == [["identifier"]])
        let book = try #require(document.entity(named: "Book"))
        #expect(book.className == "Book" && book.classModule == "" && book.parentName == "Work")
        #expect(book.qualifiedClassName(inModule: "Shop") == "Shop.Book")
        #expect(book.renamingIdentifier == "Volume" && book.versionHashModifier == "v2")
        #expect(book.codeGeneration == .classDefinition && book.userInfo == ["origin": .string("fixture")])
        #expect(book.indexes.first?.elements.map(\.propertyName) == ["pages", "title"])
        #expect(book.indexes.first?.elements.map(\.isAscending) == [false, true])
        #expect(book.compoundIndexes == [["pages", "price"]])
        let author = try #require(document.entity(named: "Author"))
        #expect(author.codeGeneration == .category && !author.isSyncable)
        let shelf = try #require(document.entity(named: "Shelf"))
        #expect(shelf.className == nil)
    }

    @Test func attributesAreRead() throws {
        let document = try ModelFixtures.document()
        let attributes =
            (document.entity(named: "Work")?.attributes ?? []) + (document.entity(named: "Book")?.attributes ?? [])
        let named = Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
        let title = try #require(named["title"])
        #expect(title.minimum == .integer(1) && title.maximum == .integer(200) && title.pattern == "[A-Z].*")
        #expect(title.defaultValue == .string("Untitled") && !title.isOptional)
        #expect(named["identifier"]?.isIndexed == true && named["identifier"]?.usesScalarType == false)
        let pages = try #require(named["pages"])
        #expect(pages.type == .integer32 && pages.defaultValue == .integer(100) && pages.minimum == .integer(1))
        #expect(pages.renamingIdentifier == "pageCount" && pages.versionHashModifier == "m")
        #expect(pages.userInfo == ["unit": .string("pages & leaves"), "": .string("")])
        #expect(named["price"]?.defaultValue == .decimal("9.95") && named["price"]?.maximum == .decimal("1000"))
        #expect(named["isLent"]?.defaultValue == .boolean(true))
        #expect(named["published"]?.defaultValue == .date(-725_882_400))
        #expect(named["published"]?.minimum == .date(-3_155_760_000.5))
        let cover = try #require(named["cover"])
        #expect(cover.allowsExternalStorage && cover.allowsCloudEncryption && cover.isStoredInExternalRecord)
        let tags = try #require(named["tags"])
        #expect(tags.valueTransformerName == "NSSecureUnarchiveFromData" && tags.valueClassName == "[String]")
        #expect(tags.preservesValueOnDeletion)
        #expect(named["home"]?.defaultValue == .string("https://swift.org"))
        #expect(named["home"]?.isIndexedBySpotlight == true)
        #expect(named["size"]?.compositeName == "Size" && named["size"]?.type == .composite)
        #expect(named["authorCount"]?.derivationExpression == "authors.@count")
        #expect(named["scratch"]?.type == .undefined && named["scratch"]?.isTransient == true)
        #expect(document.composites.first?.attributes.map(\.defaultValue) == [.real(0.5), .real(0)])
    }

    @Test func relationshipsRequestsAndConfigurationsAreRead() throws {
        let document = try ModelFixtures.document()
        let book = try #require(document.entity(named: "Book"))
        let authors = try #require(book.relationships.first)
        #expect(authors.minCount == 1 && authors.maxCount == 5 && authors.isOrdered && authors.isToMany)
        #expect(authors.destinationName == "Author" && authors.inverseName == "books")
        #expect(book.relationships.last?.deleteRule == .deny && book.relationships.last?.isToMany == false)
        #expect(document.entity(named: "Author")?.relationships.first?.maxCount == 0)
        #expect(book.fetchedProperties.first?.fetchRequest?.predicate == "shelf == $FETCH_SOURCE.shelf")
        let long = try #require(document.fetchRequests.first)
        #expect(long.predicate == "pages > $MINIMUM" && long.resultType == 1)
        #expect(long.fetchLimit == 10 && long.fetchBatchSize == 5)
        #expect(!long.includesSubentities && long.includesPropertyValues && !long.includesPendingChanges)
        #expect(!long.returnsObjectsAsFaults && long.returnsDistinctResults)
        #expect(document.configurations.first?.isUsedWithCloudKit == true)
        #expect(document.configurations.first?.entityNames == ["Shelf"])
    }

    @Test func aRequestThatSaysNothingHasCoreDatasDefaults() throws {
        let xml = "<model><entity name=\"A\"/><fetchRequest name=\"all\" entity=\"A\"/></model>"
        #expect(
            try ModelFixtures.document(xml).fetchRequests == [ModelDocument.FetchRequest(name: "all", entityName: "A")])
    }

    @Test func theCurrentVersionIsTheOneThatTheBundleNames() throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            let versions = ["Shop": ModelFixtures.model(""), "Shop 2": ModelFixtures.complete]
            try ModelFixtures.write(versions, current: "Shop 2.xcdatamodel", to: bundle)
            let model = try XcodeModel.model(contentsOf: bundle)
            #expect(model.currentName == "Shop 2" && model.versions.map(\.name) == ["Shop", "Shop 2"])
            #expect(model.current?.document.entities.count == 4)

            try ModelFixtures.write(versions, current: "Lost.xcdatamodel", to: bundle)
            #expect(throws: ModelFileError.self) { try XcodeModel.model(contentsOf: bundle) }

            let alone = directory.appendingPathComponent("Alone.xcdatamodeld", isDirectory: true)
            try ModelFixtures.write(["Only": ModelFixtures.model("")], current: nil, to: alone)
            #expect(try XcodeModel.model(contentsOf: alone).currentName == "Only")
            let version = alone.appendingPathComponent("Only.xcdatamodel", isDirectory: true)
            #expect(try XcodeModel.model(contentsOf: version).currentName == "Only")
        }
    }

    @Test func aModelOlderThanXMLSaysWhatToDo() throws {
        try ModelFixtures.withDirectory { directory in
            let old = directory.appendingPathComponent("Old.xcdatamodel", isDirectory: true)
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
            try Data("bplist00".utf8).write(to: old.appendingPathComponent("elements"))
            let error = #expect(throws: ModelFileError.self) { try XcodeModel.read(contentsOf: old) }
            #expect(error?.message.contains("open and save the model in Xcode") == true)
        }
    }

    private func writeOlder(_ name: String, to bundle: URL) throws {
        let version = bundle.appendingPathComponent(name + ".xcdatamodel", isDirectory: true)
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        for file in ["elements", "layout"] {
            try Data("bplist00".utf8).write(to: version.appendingPathComponent(file))
        }
    }

    /// One version of Xcode 3's form stopped the build of all others, which nobody needed it for.
    @Test(arguments: ["Shop 2.xcdatamodel", nil])
    func aVersionOlderThanXMLIsLeftOutWithAWarning(current: String?) throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            let xml = ModelFixtures.model("<attribute name=\"a\" attributeType=\"String\"/>")
            try ModelFixtures.write(["Shop 2": xml, "Shop 3": xml], current: current, to: bundle)
            try writeOlder("Shop", to: bundle)
            for linting in [false, true] {
                let reading = try XcodeModel.read(contentsOf: bundle, linting: linting)
                #expect(reading.model.versions.map(\.name) == ["Shop 2", "Shop 3"])
                #expect(reading.model.currentName == "Shop 2")
                let diagnostic = try #require(reading.diagnostics.first)
                #expect(reading.diagnostics.count == 1 && diagnostic.severity == .warning)
                #expect(diagnostic.file == bundle.appendingPathComponent("Shop.xcdatamodel").path)
                #expect(diagnostic.message == "this form is older than Xcode 4.3, and is left out")
            }
        }
    }

    @Test(arguments: [true, false]) func aCurrentVersionOlderThanXMLIsAnError(hasOthers: Bool) throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            try writeOlder("Shop", to: bundle)
            if hasOthers {
                try ModelFixtures.write(["A": ModelFixtures.complete], current: "Shop.xcdatamodel", to: bundle)
            }
            let error = #expect(throws: ModelFileError.self) { try XcodeModel.read(contentsOf: bundle) }
            #expect(error?.message.contains("Shop.xcdatamodel: this form is older") == true)
        }
    }
}
