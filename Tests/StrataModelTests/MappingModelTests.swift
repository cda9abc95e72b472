import Foundation
import Strata
import StrataModelFile
import StrataModelXML
import Testing

@testable import StrataModelTool

/// Turns ages into texts.
final class YearsPolicy: NSEntityMigrationPolicy {
    override func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        guard name == "years:", let age = arguments.first as? NSNumber else {
            return super.performPredicateFunction(name, arguments: arguments)
        }
        return "\(age.intValue) years"
    }
}

/// Xcode's mapping models: read, compiled, found and at work.
@Suite struct MappingModelTests {
    /// Once with the models' files beside it, once with the copies that Xcode keeps in the mapping model.
    @Test(arguments: [false, true]) func whatIsLeftOpenIsWhatXcodeMakesUp(_ withModels: Bool) throws {
        try ModelFixtures.withDirectory { directory in
            var content = MappingFixture.Content()
            if withModels { (content.source, content.destination) = (nil, nil) }
            let url = try MappingFixture.write(MappingFixture.xml(content), to: directory)
            let models = try withModels ? [MappingFixture.writeModels(to: directory)] : []
            let reading = try XcodeMappingModel.read(contentsOf: url, models: models)
            #expect(reading.diagnostics.isEmpty)
            let mappings = reading.document.entityMappings
            #expect(mappings.map(\.name) == ["PersonToPerson", "PetToPet", "DogToDog", "Shop", "Thing"])
            #expect(mappings.map(\.type) == [1, 4, 4, 2, 3])
            #expect(mappings.map(\.policyClassName) == ["YearsPolicy", nil, nil, nil, nil])
            #expect(
                mappings[0].sourceExpression
                    == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Person\", "
                    + "\"TRUEPREDICATE\"), $manager.sourceContext, NO)")
            #expect(mappings[3].sourceExpression == nil && mappings[4].sourceExpression == nil)
            #expect(mappings[0].attributeMappings.map(\.name) == ["fullName", "years"])
            #expect(
                mappings[0].attributeMappings.map(\.expression)
                    == ["$source.name", "FUNCTION($entityPolicy, \"years:\", $source.age)"])
            // The source has no nickname.
            #expect(mappings[1].attributeMappings.map(\.expression) == ["$source.name", nil])
            // Pets may also be dogs, which another mapping makes.
            #expect(
                mappings[0].relationshipMappings.map(\.expression)
                    == [
                        "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"pets\", "
                            + "$source.pets)"
                    ])
            #expect(
                mappings[2].relationshipMappings.map(\.expression)
                    == [
                        "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
                            + "\"PersonToPerson\", $source.owner)"
                    ])
        }
    }

    @Test func theCopyOfAModelHasTheVersionHashesOfItsFile() throws {
        try ModelFixtures.withDirectory { directory in
            let url = try MappingFixture.write(MappingFixture.xml(), to: directory)
            let copies = try XcodeMappingModel.read(contentsOf: url).document
            let files = try XcodeMappingModel.read(
                contentsOf: url, models: [MappingFixture.writeModels(to: directory)]
            ).document
            for path in [\MappingDocument.sourceModel, \.destinationModel] {
                let copy = try NSManagedObjectModel(document: #require(copies[keyPath: path]))
                let file = try NSManagedObjectModel(document: #require(files[keyPath: path]))
                #expect(copy.entityVersionHashesByName == file.entityVersionHashesByName)
            }
        }
    }

    @Test(
        arguments: [
            ("Nobody", nil, "", "PersonToPerson.Nobody: Person has no attribute of this name"),
            (nil, Array("what".utf8), "", "PersonToPerson.years: the expression cannot be read"),
            (
                nil, nil, "<attribute name=\"filterdata\" type=\"binary\">AAAA</attribute>",
                "PersonToPerson: nothing is known of 'filterdata'"
            ),
        ] as [(String?, [UInt8]?, String, String)])
    func anErrorNamesFileMappingAndProperty(
        _ name: String?, _ years: [UInt8]?, _ more: String, _ message: String
    ) throws {
        try ModelFixtures.withDirectory { directory in
            var content = MappingFixture.Content()
            content.renamed = name ?? content.renamed
            content.years = years ?? content.years
            content.more = more
            let url = try MappingFixture.write(MappingFixture.xml(content), to: directory)
            let output = directory.appendingPathComponent("out.cdm")
            let error = #expect(throws: ToolError.self) { try compile(url, [], output) }
            let text = try #require(error?.message)
            #expect(text.hasPrefix("\(url.path)/xcmapping.xml:"), "\(text)")
            #expect(text.contains("error: \(message)"), "\(text)")
            #expect(!FileManager.default.fileExists(atPath: output.path))
        }
    }

    @Test func lintingLooksAtMappingModelsToo() throws {
        try ModelFixtures.withDirectory { directory in
            let models = try MappingFixture.writeModels(to: directory)
            var content = MappingFixture.Content()
            content.more = "<attribute name=\"colour\" type=\"string\">red</attribute>"
            let mapping = try MappingFixture.write(MappingFixture.xml(content), to: directory)
            let found = try ModelTool.run(["lint", mapping.path, models.path])
            #expect(found.count == 1)
            #expect(found.first?.contains("warning: PersonToPerson: 'colour' is not known and ignored") == true)
            content.renamed = "Nobody"
            _ = try MappingFixture.write(MappingFixture.xml(content), to: directory)
            #expect(throws: ToolError.self) { try ModelTool.run(["lint", mapping.path, models.path]) }
        }
    }

    @Test func hostileFilesAreErrors() throws {
        let xml = MappingFixture.xml()
        func read(_ text: String) throws -> XcodeMappingModel.Reading {
            try XcodeMappingModel.read(Data(text.utf8), file: "m")
        }
        let entity = "<!DOCTYPE database [<!ENTITY a \"aaaa\">]>"
        #expect(throws: ModelFileError.self) {
            try read(
                xml.replacing(
                    "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">", with: entity))
        }
        #expect(throws: ModelFileError.self) { try read("") }
        #expect(try read("<model/>").diagnostics.map(\.severity) == [.error])
        #expect(try read("<database/>").diagnostics.map(\.severity) == [.error])
        var content = MappingFixture.Content()
        content.source = nil
        let missing = try read(MappingFixture.xml(content)).diagnostics
        #expect(missing.map(\.message).joined().contains("App/Zoo.xcdatamodeld/Zoo.xcdatamodel"))
        // Whatever becomes of a byte of the copies, there is a mapping model or an error.
        let snapshot = MappingFixture.snapshot(MappingFixture.first())
        for place in stride(from: 8, to: snapshot.count, by: 61) {
            content.source = snapshot
            content.source?[place] ^= 0xFF
            _ = try read(MappingFixture.xml(content))
            content.source = Array(snapshot.prefix(place))
            #expect(try read(MappingFixture.xml(content)).diagnostics.contains { $0.severity == .error })
        }
    }

    private func compile(_ mapping: URL, _ models: [URL], _ output: URL) throws -> [String] {
        try ModelTool.run(
            ["compile-mapping", mapping.path] + models.map(\.path)
                + ["--cdm", output.path, "--module", "StrataModelTests"])
    }

    @Test func aCompiledMappingModelIsFoundAndMigratesData() throws {
        try ModelFixtures.withDirectory { directory in
            let resources = directory.appendingPathComponent("Zoo.resources", isDirectory: true)
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
            let models = [try MappingFixture.writeModels(to: directory)]
            let mapping = try MappingFixture.write(MappingFixture.xml(), to: directory)
            #expect(try compile(mapping, models, resources.appendingPathComponent("ZooToZoo2.cdm")).isEmpty)
            let source = try NSManagedObjectModel(document: MappingFixture.first())
            let destination = try NSManagedObjectModel(document: MappingFixture.second())
            let bundles = [try #require(Bundle(path: resources.path))]
            #expect(NSMappingModel(from: bundles, forSourceModel: source, destinationModel: source) == nil)
            let found = try #require(
                NSMappingModel(from: bundles, forSourceModel: source, destinationModel: destination))
            let url = directory.appendingPathComponent("old")
            try fill(url, source)
            let new = directory.appendingPathComponent("new")
            let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
            try manager.migrateStore(
                from: url, sourceType: NSSQLiteStoreType, with: found, toDestinationURL: new,
                destinationType: NSSQLiteStoreType)
            try check(new, destination)
        }
    }

    private func with(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
    }

    private func fill(_ url: URL, _ model: NSManagedObjectModel) throws {
        try with(url, model) { context in
            for index in 0..<40 {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue("n\(index)", forKey: "name")
                person.setValue(index, forKey: "age")
                for entity in ["Pet", "Dog", "Thing"] {
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    object.setValue("\(entity) \(index)", forKey: entity == "Thing" ? "kind" : "name")
                    if entity != "Thing" { object.setValue(person, forKey: "owner") }
                }
            }
            try context.save()
        }
    }

    private func check(_ url: URL, _ model: NSManagedObjectModel) throws {
        try with(url, model) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            let persons = try context.fetch(request)
            #expect(persons.count == 40)
            for person in persons {
                let name = try #require(person.value(forKey: "fullName") as? String)
                let index = name.dropFirst()
                #expect(person.value(forKey: "years") as? String == "\(index) years")
                let pets = person.value(forKey: "pets") as? Set<NSManagedObject> ?? []
                #expect(
                    pets.compactMap { $0.value(forKey: "name") as? String }.sorted()
                        == ["Dog \(index)", "Pet \(index)"])
            }
        }
    }
}
