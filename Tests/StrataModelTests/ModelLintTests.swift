import Foundation
import StrataModelFile
import StrataModelXML
import Testing

/// What is found wrong in models that can be read.
@Suite struct ModelLintTests {
    @Test func aSoundModelHasNothingToReport() throws {
        #expect(try ModelFixtures.diagnostics(ModelFixtures.complete, lint: .warning).isEmpty)
    }

    /// Xcode writes a default of zero for a number, also if it is derived.
    @Test func aDerivedAttributeMayHaveADefault() throws {
        let body =
            "<attribute name=\"a\" attributeType=\"Integer 32\" derived=\"YES\" derivationExpression=\"now()\" "
            + "defaultValueString=\"0\"/>"
        #expect(try ModelFixtures.diagnostics(ModelFixtures.model(body), lint: .warning).isEmpty)
    }

    @Test(arguments: [
        (
            "<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"Item\"/>",
            "f:4: warning: Item.r: the relationship should have an inverse"
        ),
        (
            "<relationship name=\"r\" maxCount=\"1\"/>",
            "f:4: error: Item.r: the relationship should have a destination"
        ),
        (
            "<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"B\"/>",
            "f:4: error: Item.r: it leads to 'B', which is no entity"
        ),
        (
            "<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"Item\" inverseName=\"q\"/>",
            "f:4: error: Item.r: the inverse 'Item.q' is no relationship"
        ),
        (
            "<relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Item\" inverseName=\"r\" "
                + "deletionRule=\"No Action\"/>",
            "f:4: warning: Item.r: with the delete rule No Action, objects may be left that refer to deleted ones"
        ),
        (
            "<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"Item\" inverseName=\"r\" "
                + "deletionRule=\"Nullify\"/>",
            "f:4: warning: Item.r: 'Item.r' is not optional, so that Nullify leaves objects that cannot be saved"
        ),
        (
            "<relationship name=\"r\" toMany=\"YES\" deletionRule=\"Cascade\" destinationEntity=\"Item\" inverseName=\"r\"/>",
            "f:4: warning: Item.r: Cascade at both ends of many-to-many deletes everything that hangs together"
        ),
        ("<attribute name=\"a\"/>", "f:4: error: Item.a: the attribute has no type and is not transient"),
        (
            "<attribute name=\"a\" attributeType=\"Transformable\"/>",
            "f:4: warning: Item.a: it uses no or an insecure value transformer; NSSecureUnarchiveFromData is safe"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Composite\" composite=\"C\"/>",
            "f:4: error: Item.a: it is of composite 'C', which is not in the model"
        ),
        (
            "<attribute name=\"description\" attributeType=\"String\"/>",
            "f:4: warning: Item.description: the name is reserved: managed objects have something of this name themselves"
        ),
        (
            "<attribute name=\"Title\" attributeType=\"String\"/>",
            "f:4: warning: Item.Title: the name of a property should begin with a lower-case letter"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 16\" minValueString=\"5\" maxValueString=\"3\"/>",
            "f:4: warning: Item.a: no value is valid: the least one is greater than the greatest one"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 16\" minValueString=\"5\" defaultValueString=\"4\"/>",
            "f:4: warning: Item.a: the default value is outside of the limits"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 16\" derived=\"YES\"/>",
            "f:4: error: Item.a: the derived attribute has no expression"
        ),
        (
            "<attribute name=\"a\" attributeType=\"String\"/><attribute name=\"a\" attributeType=\"String\"/>",
            "f:4: error: Item.a: two properties have this name"
        ),
        ("<fetchedProperty name=\"p\"/>", "f:4: error: Item.p: the fetched property has no request"),
        (
            "<fetchIndex name=\"i\"><fetchIndexElement property=\"z\"/></fetchIndex>",
            "f:4: error: Item.i: the index names 'z', which is no property"
        ),
        (
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"z\"/></uniquenessConstraint>"
                + "</uniquenessConstraints>",
            "f:3: error: Item: a uniqueness constraint names 'z', which is no property"
        ),
    ])
    func whatXcodeWouldWarnOfIsToldAtItsPlace(body: String, expected: String) throws {
        #expect(try ModelFixtures.diagnostics(ModelFixtures.model(body), lint: .warning) == [expected])
    }

    @Test(arguments: [
        ("<entity name=\"A\" parentEntity=\"B\"/>", "A: it inherits from 'B', which is no entity"),
        ("<entity name=\"A\" parentEntity=\"A\"/>", "A: it inherits from itself"),
        (
            "<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/>",
            "A: it inherits from itself"
        ),
        ("<entity name=\"A\"/><entity name=\"A\"/>", "A: two entities have this name"),
        ("<entity name=\"a\"/>", "a: the name of an entity should begin with an upper-case letter"),
        (
            "<entity name=\"A\" isAbstract=\"YES\"/>",
            "A: it is abstract and no entity inherits from it: it can have no objects"
        ),
        (
            "<entity name=\"A\" codeGenerationType=\"class\"/>",
            "A: code is to be generated, but the entity names no class"
        ),
        (
            "<entity name=\"A\" representedClassName=\"C\" codeGenerationType=\"class\"/>"
                + "<entity name=\"B\" representedClassName=\"C\" codeGenerationType=\"class\"/>",
            "B: class 'C' is generated for 'A', too"
        ),
        (
            "<configuration name=\"c\"><memberEntity name=\"A\"/></configuration>",
            "c: the configuration has 'A', which is no entity"
        ),
        ("<fetchRequest name=\"r\" entity=\"A\"/>", "r: the request fetches 'A', which is no entity"),
        (
            "<composite name=\"C\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></composite>",
            "C: the composite contains itself"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/></entity>"
                + "<entity name=\"B\" parentEntity=\"A\"><attribute name=\"x\" attributeType=\"Date\"/></entity>",
            "B.x: 'A' has a property of this name that differs"
        ),
    ])
    func mistakesOfTheWholeAreTold(body: String, expected: String) throws {
        let found = try ModelFixtures.diagnostics("<model>\(body)</model>", lint: .warning)
        #expect(found.contains { $0.hasSuffix(": \(expected)") }, "\(found)")
    }

    @Test func reservedNamesAreErrorsWhereCodeIsGenerated() throws {
        let entity = "name=\"Item\" representedClassName=\"Item\" codeGenerationType=\"class\""
        let xml = ModelFixtures.model("<attribute name=\"hash\" attributeType=\"String\"/>", entity: entity)
        #expect(try ModelFixtures.diagnostics(xml, lint: .error).count == 1)
    }

    @Test func warningsOfOldVersionsAreKeptQuiet() throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            let lone = "<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"Item\"/>"
            let versions = ["One": ModelFixtures.model(lone), "Two": ModelFixtures.model(lone)]
            try ModelFixtures.write(versions, current: "Two.xcdatamodel", to: bundle)
            let found = try XcodeModel.read(contentsOf: bundle, linting: true).diagnostics
            #expect(found.count == 1 && found[0].file?.contains("Two.xcdatamodel") == true)
        }
    }
}
