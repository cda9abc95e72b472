import Foundation
import Strata
import StrataModelFile
import StrataModelXML
import Testing

@testable import StrataModelTool

/// What the plugins run.
@Suite struct ModelToolTests {
    private func withModel(_ xml: String, _ body: (_ model: URL, _ output: URL) throws -> Void) throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            try ModelFixtures.write(["Shop": xml], current: nil, to: bundle)
            try body(bundle, directory.appendingPathComponent("out", isDirectory: true))
        }
    }

    private func compile(_ model: URL, _ output: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        return try ModelTool.run([
            "compile", model.path, "--momd", output.appendingPathComponent("Shop.momd").path, "--swift",
            output.appendingPathComponent("Shop.swift").path, "--module", "Shop",
        ])
    }

    @Test func compilingMakesAModelAndItsClasses() throws {
        try withModel(ModelFixtures.complete) { model, output in
            #expect(try compile(model, output).isEmpty)
            let loaded = try #require(
                NSManagedObjectModel(contentsOf: output.appendingPathComponent("Shop.momd", isDirectory: true)))
            #expect(loaded.entitiesByName["Book"]?.managedObjectClassName == "Shop.Book")
            // Generated here, so that it can be named with its module; written by hand, it can be anywhere.
            #expect(loaded.entitiesByName["Work"]?.managedObjectClassName == "Shop.Work")
            #expect(loaded.entitiesByName["Author"]?.managedObjectClassName == "Author")
            let code = try String(contentsOf: output.appendingPathComponent("Shop.swift"), encoding: .utf8)
            #expect(code.contains("public class Book: Work {"))
        }
    }

    @Test func whatHasNotChangedIsNotWrittenAgain() throws {
        try withModel(ModelFixtures.complete) { model, output in
            _ = try compile(model, output)
            let files = ["Shop.swift", "Shop.momd/Shop.mom", "Shop.momd/VersionInfo.plist"]
                .map { output.appendingPathComponent($0).path }
            let past = Date(timeIntervalSince1970: 1_000_000_000)
            for file in files {
                try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: file)
            }
            _ = try compile(model, output)
            for file in files {
                let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
                #expect(date == past)
            }
        }
    }

    /// `port` knows the classes of a model with mistakes in it, and its report has the mistakes.
    @Test func anOutlineHasWhatCanBeReadOfAModelWithMistakes() throws {
        let xml = ModelFixtures.model(
            """
            <attribute name="title" attributeType="String"/><attribute name="a" attributeType="Text"/>
            <relationship name="owner" destinationEntity="Nobody" maxCount="1"/>
            """, entity: "name=\"Item\" representedClassName=\"Item\" codeGenerationType=\"class\"")
        try withModel(xml) { model, output in
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
            let swift = output.appendingPathComponent("Shop+CoreDataModel.swift")
            let arguments = ["outline", model.path, "--swift", swift.path, "--module", "Shop"]
            let errors = try ModelTool.run(arguments)
            #expect(errors.count == 1 && errors.first?.contains(": error: Item.a: attributeType=\"Text\"") == true)
            let code = try String(contentsOf: swift, encoding: .utf8)
            #expect(code.contains("class Item: NSManagedObject") && code.contains("var title: String"))
            // A model that cannot be read at all has no classes.
            try FileManager.default.removeItem(at: swift)
            let contents = model.appendingPathComponent("Shop.xcdatamodel/contents")
            try Data("no XML".utf8).write(to: contents)
            #expect(try ModelTool.run(arguments).first?.hasPrefix("error: ") == true)
            #expect(!FileManager.default.fileExists(atPath: swift.path))
        }
    }

    @Test func anErrorNamesFileEntityAndPropertyAndWritesNothing() throws {
        try withModel(ModelFixtures.model("<attribute name=\"a\" attributeType=\"Text\"/>")) { model, output in
            let error = #expect(throws: ToolError.self) { try compile(model, output) }
            #expect(
                error?.message == "\(model.path)/Shop.xcdatamodel/contents:4: error: Item.a: attributeType=\"Text\""
                    + " is no type")
            #expect(!FileManager.default.fileExists(atPath: output.appendingPathComponent("Shop.swift").path))
        }
    }

    @Test func warningsDoNotStopCompiling() throws {
        let lone = "<relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Item\"/>"
        try withModel(ModelFixtures.model(lone)) { model, output in
            let warnings = try compile(model, output)
            #expect(warnings.count == 1)
        }
    }

    @Test func generatingWritesTheFilesOfXcode() throws {
        try withModel(ModelFixtures.complete) { model, output in
            let told = try ModelTool.run(["generate", model.path, "--output", output.path, "--module", "Shop"])
            #expect(told.count == 5)
            #expect(try FileManager.default.contentsOfDirectory(atPath: output.path).count == 5)
        }
    }

    @Test(arguments: [
        [], ["compile"], ["lint"], ["bake", "x"], ["compile", "x", "--momd"], ["lint", "x", "--y", "z"],
    ])
    func callsThatMakeNoSenseSayHow(arguments: [String]) {
        let error = #expect(throws: ToolError.self) { try ModelTool.run(arguments) }
        #expect(error?.message.contains("usage: ") == true)
    }

    @Test func aModelThatIsNotThereIsAnError() {
        let error = #expect(throws: ModelFileError.self) { try ModelTool.run(["lint", "/nowhere.xcdatamodeld"]) }
        #expect(error.map(ModelTool.text(of:))?.hasPrefix("error: /nowhere.xcdatamodeld: ") == true)
    }
}
