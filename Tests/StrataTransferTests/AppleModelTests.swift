import CoreData
import Foundation
import StrataModelFile
import StrataTestKit
import Testing

@testable import StrataTransfer

@Suite struct AppleModelTests {
    @Test(arguments: [false, true]) func anArchiveBecomesADocument(_ inheritedToo: Bool) throws {
        let file = try AppleModelFile(AppleArchive.model(inheritedToo: inheritedToo))
        #expect(file.notes.isEmpty)
        let document = file.document
        #expect(document.versionIdentifiers == ["v1"])
        #expect(document.entities.map(\.name) == ["Leader", "Person", "Team"])
        let person = try #require(document.entity(named: "Person"))
        #expect(person.className == "Person")
        #expect(person.classModule == "App")
        #expect(person.uniquenessConstraints == [["name"]])
        #expect(person.indexes.first?.elements.first?.propertyName == "name")
        #expect(person.indexes.first?.elements.first?.isAscending == false)
        #expect(person.attributes.map(\.name) == ["age", "name"])
        #expect(person.attributes[0].defaultValue == .integer(18))
        #expect(person.attributes[0].userInfo == ["a": .string("b")])
        let name = person.attributes[1]
        #expect(name.minimum == .integer(2))
        #expect(name.maximum == .integer(20))
        #expect(name.preservesValueOnDeletion)
        #expect(
            name.validations == [
                ModelDocument.Validation(
                    predicate: "SELF BEGINSWITH[c] \"A\"", warning: .string("Names begin with an A."))
            ])
        let leader = try #require(document.entity(named: "Leader"))
        #expect(leader.parentName == "Person")
        #expect(leader.attributes.map(\.name) == ["since"])
        #expect(leader.relationships.isEmpty)
        let members = try #require(document.entity(named: "Team")?.relationships.first)
        #expect(members.isOrdered && members.isToMany && members.deleteRule == .cascade)
        #expect(members.inverseName == "team")
        #expect(document.configurations.map(\.entityNames) == [["Team"]])
        #expect(document.fetchRequests.first?.predicate == "age > $AGE")
        #expect(document.fetchRequests.first?.fetchLimit == 5)
        #expect(document.fetchRequests.first?.sorts == [ModelDocument.Sort(key: "age", isAscending: false)])
    }

    /// Xcode's editor keeps texts of an attribute's earlier type, and a model with one of them could not be loaded.
    @Test func aDefaultValueOfAnotherTypeIsLeftOutWithANote() throws {
        let file = try AppleModelFile(AppleArchive.model(defaultAge: "empy"))
        let note = try #require(file.notes.first)
        #expect(file.notes.count == 1 && note.contains("age: the default value is none of type Integer 16"))
        let age = try #require(file.document.entity(named: "Person")?.attributes.first)
        #expect(age.name == "age" && age.defaultValue == nil)
        let model = try NSManagedObjectModel(document: file.document)
        #expect(model.entitiesByName["Person"]?.attributesByName["age"]?.defaultValue == nil)
    }

    @Test func aCompiledModelOfApplesIsLoaded() throws {
        let scratch = try Scratch()
        let directory = scratch.url("Model.momd")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(AppleArchive.model()).write(to: directory.appendingPathComponent("Model 2.mom"))
        try Data([1, 2, 3]).write(to: directory.appendingPathComponent("Model.mom"))
        let info = ["NSManagedObjectModel_CurrentVersionName": "Model 2"]
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
            .write(to: directory.appendingPathComponent("VersionInfo.plist"))
        let model = try #require(NSManagedObjectModel(contentsOf: directory))
        #expect(model.entitiesByName["Leader"]?.superentity?.name == "Person")
        #expect(model.entitiesByName["Person"]?.managedObjectClassName == "App.Person")
        #expect(model.fetchRequestTemplate(forName: "older") != nil)
        #expect(NSManagedObjectModel(contentsOf: directory.appendingPathComponent("Model.mom")) == nil)
    }

    @Test func damagedArchivesAreErrors() throws {
        let bytes = AppleArchive.model()
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: (any Error).self) { _ = try AppleModelFile(Array(bytes.prefix(count))) }
        }
        // Whatever a byte is changed to, there is a document or an error.
        for place in stride(from: 0, to: bytes.count, by: 3) {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[place] ^= mask
                _ = try? AppleModelFile(damaged)
            }
        }
    }

    @Test func anArchiveThatLeadsInACircleIsAnError() throws {
        let writer = ArchiveWriter()
        let predicate = writer.reserve()
        writer.fill(
            predicate, "NSCompoundPredicate",
            [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", writer.list([.uid(predicate)]))])
        let request = writer.object(
            "NSFetchRequest", [("NSEntityName", writer.string("A")), ("NSPredicate", .uid(predicate))])
        let root = writer.object(
            "NSManagedObjectModel", [("NSFetchRequestTemplates", writer.dictionary([("t", request)]))])
        let error = #expect(throws: ArchiveError.self) { _ = try AppleModelFile(writer.bytes(root: root)) }
        #expect(error?.description.contains("nested too deeply") == true)
    }
}

@Suite struct AppleMappingTests {
    @Test func anArchiveBecomesADocument() throws {
        let writer = ArchiveWriter()
        let source = writer.object("NSVariableExpression", [("NSVariable", writer.string("source"))])
        let path = writer.object("NSKeyPathSpecifierExpression", [("NSKeyPath", writer.string("model"))])
        let value = writer.object(
            "NSKeyPathExpression", [("NSOperand", source), ("NSArguments", writer.list([path]))])
        let manager = writer.object("NSVariableExpression", [("NSVariable", writer.string("manager"))])
        let argument = writer.object("NSConstantValueExpression", [("NSConstantValue", writer.string("Car"))])
        let request = writer.object(
            "NSFunctionExpression",
            [
                ("NSOperand", manager), ("NSSelectorName", writer.string("fetchRequestForSourceEntityNamed:")),
                ("NSArguments", writer.list([argument])),
            ])
        let fetch = writer.object(
            "NSFetchRequestExpression", [("NSFRExpression", request), ("NSMOCExpression", manager)])
        let property = writer.object(
            "NSPropertyMapping", [("NSDestinationPropertyName", writer.string("name")), ("NSValueExpression", value)])
        let mapping = writer.object(
            "NSEntityMapping",
            [
                ("NSMappingName", writer.string("CarToCar")), ("NSMappingType", .integer(1)),
                ("NSSourceEntityName", writer.string("Car")),
                ("NSSourceEntityVersionHash", writer.add(.data(Data([1])))),
                ("NSSourceExpression", fetch), ("NSAttributeMappings", writer.list([property])),
                ("NSEntityMigrationPolicyClassName", writer.string("App.Policy")),
            ])
        let root = writer.object("NSMappingModel", [("NSEntityMappings", writer.list([mapping]))])
        let bytes = writer.bytes(root: root)
        #expect(AppleMappingFile.canRead(bytes) && !AppleModelFile.canRead(bytes))
        let document = try AppleMappingFile(bytes).document
        let found = try #require(document.entityMappings.first)
        #expect(found.name == "CarToCar" && found.type == 1 && found.sourceName == "Car")
        #expect(found.destinationName == nil && found.sourceVersionHash == Data([1]))
        #expect(found.policyClassName == "App.Policy")
        #expect(
            found.sourceExpression
                == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:\", \"Car\"), $manager, NO)")
        #expect(found.attributeMappings.map(\.name) == ["name"])
        #expect(found.attributeMappings.first?.expression == "$source.model")
    }
}

@Suite struct InflateTests {
    @Test func aStoredBlockIsCopied() throws {
        let bytes = Array("abc".utf8)
        #expect(try Inflate.decompress([1, 3, 0, 252, 255] + bytes) == bytes)
    }

    @Test func fixedCodesAreRead() throws {
        let packed: [UInt8] = [75, 76, 74, 78, 68, 66, 10, 197, 37, 69, 137, 37, 137, 168, 20, 0]
        #expect(try Inflate.decompress(packed) == Array("abcabcabcabcabc strata strata strata".utf8))
    }

    @Test func dynamicCodesAreReadAndTruncatedOnesRefused() throws {
        let packed: [UInt8] = [
            205, 204, 185, 13, 0, 65, 12, 196, 176, 90, 53, 242, 211, 127, 7, 11, 28, 92, 196, 37, 12, 9, 166, 93, 146,
            114, 78, 162, 125, 110, 98, 49, 39, 74, 159, 107, 168, 204, 201, 247, 240, 251, 237, 1,
        ]
        var expected: [UInt8] = []
        for number in 0..<120 {
            expected.append(UInt8(97 + (number * 7919 % 13) % 7))
            expected.append(UInt8(97 + number % 3))
        }
        #expect(try Inflate.decompress(packed) == expected)
        for count in packed.indices {
            #expect(throws: TransferError.self) { _ = try Inflate.decompress(Array(packed.prefix(count))) }
        }
        #expect(throws: TransferError.self) { _ = try Inflate.decompress(packed, maximumByteCount: 100) }
    }
}
