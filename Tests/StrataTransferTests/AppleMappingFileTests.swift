import CoreData
import Foundation
import StrataModelFile
import StrataTestKit
import Testing

/// Mapping models as Apple's compiler writes them.
@Suite struct AppleMappingFileTests {
    private static let hash = Data(repeating: 7, count: 32)

    /// The model of ``AppleArchive``, from a version to itself; the mapping of teams gives them another title.
    private static func mapping(title: (ArchiveWriter) -> ArchiveWriter.Node) -> [UInt8] {
        let writer = ArchiveWriter()
        let mappings = ["Team", "Person", "Leader"].map { name in
            let request = writer.function(
                writer.variable("manager"), "fetchRequestForSourceEntityNamed:predicateString:",
                [writer.constant(name), writer.constant("TRUEPREDICATE")])
            let value = name == "Team" ? title(writer) : writer.keyPath(writer.variable("source"), "name")
            let property = writer.object(
                "NSPropertyMapping",
                [
                    ("NSDestinationPropertyName", writer.string(name == "Team" ? "title" : "name")),
                    ("NSValueExpression", value),
                ])
            return writer.object(
                "NSEntityMapping",
                [
                    ("NSMappingName", writer.string("\(name)To\(name)")), ("NSMappingType", .integer(4)),
                    ("NSSourceEntityName", writer.string(name)), ("NSDestinationEntityName", writer.string(name)),
                    ("NSSourceEntityVersionHash", writer.add(.data(hash))),
                    ("NSDestinationEntityVersionHash", writer.add(.data(hash))),
                    (
                        "NSSourceExpression",
                        writer.fetch(request, writer.keyPath(writer.variable("manager"), "sourceContext"))
                    ),
                    ("NSAttributeMappings", writer.list([property])), ("NSRelationshipMappings", writer.list([])),
                ])
        }
        return writer.bytes(root: writer.object("NSMappingModel", [("NSEntityMappings", writer.list(mappings))]))
    }

    private static let bytes = mapping { $0.keyPath($0.variable("source"), "title") }

    /// A directory of resources with the mapping model and, if wanted, the models that its hashes are of.
    private static func resources(_ scratch: Scratch, withModels: Bool) throws -> URL {
        let directory = scratch.url(withModels ? "with.resources" : "without.resources")
        let momd = directory.appendingPathComponent("Model.momd")
        try FileManager.default.createDirectory(at: withModels ? momd : directory, withIntermediateDirectories: true)
        try Data(bytes).write(to: directory.appendingPathComponent("Map.cdm"))
        guard withModels else { return directory }
        try Data(AppleArchive.model()).write(to: momd.appendingPathComponent("Model.mom"))
        let hashes = ["Model": ["Team": hash, "Person": hash, "Leader": hash]]
        let info: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "Model", "NSManagedObjectModel_VersionHashes": hashes,
        ]
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
            .write(to: momd.appendingPathComponent("VersionInfo.plist"))
        return directory
    }

    @Test func itIsFoundByTheVersionsThatTheModelsBesideItHave() throws {
        let scratch = try Scratch()
        let model = try NSManagedObjectModel(document: AppleModelFile(AppleArchive.model()).document)
        let other = try NSManagedObjectModel(document: AppleModelFile(AppleArchive.model()).document)
        other.entitiesByName["Person"]?.versionHashModifier = "other"
        let with = try Self.resources(scratch, withModels: true)
        let bundle = try #require(Bundle(path: with.path))
        let found = try #require(NSMappingModel(from: [bundle], forSourceModel: model, destinationModel: model))
        #expect(found.entityMappings.map(\.name) == ["TeamToTeam", "PersonToPerson", "LeaderToLeader"])
        #expect(found.entityMappings[1].sourceEntityVersionHash == model.entitiesByName["Person"]?.versionHash)
        #expect(found.entityMappings[0].mappingType == .copyEntityMappingType)
        #expect(found.entityMappings[0].attributeMappings?.first?.valueExpression?.description == "$source.title")
        #expect(
            found.entityMappings[0].sourceExpression?.description
                == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Team\", "
                + "\"TRUEPREDICATE\"), $manager.sourceContext, NO)")
        #expect(NSMappingModel(from: [bundle], forSourceModel: other, destinationModel: model) == nil)

        // Without them nobody knows for which versions it is: only who asks for the file gets it.
        let without = try Self.resources(scratch, withModels: false)
        let bare = try #require(Bundle(path: without.path))
        #expect(NSMappingModel(from: [bare], forSourceModel: model, destinationModel: model) == nil)
        let read = try #require(NSMappingModel(contentsOf: without.appendingPathComponent("Map.cdm")))
        #expect(read.entityMappings.allSatisfy { $0.sourceEntityVersionHash == nil })
    }

    @Test func anErrorNamesMappingAndProperty() {
        let bytes = Self.mapping { $0.object("NSBlockExpression", []) }
        let error = #expect(throws: (any Error).self) { try AppleMappingFile(bytes) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("TeamToTeam: property title: "))
        var document = MappingDocument()
        var mapping = MappingDocument.EntityMapping(name: "A")
        var property = MappingDocument.PropertyMapping(name: "b")
        property.expression = "$source.("
        mapping.attributeMappings = [property]
        document.entityMappings = [mapping]
        let damaged = #expect(throws: ModelError.self) { try NSMappingModel(document: document) }
        #expect(damaged?.message.hasPrefix("the mapping A.b: ") == true)
    }

    @Test func damagedFilesAreNoMappingModels() throws {
        let scratch = try Scratch()
        let file = scratch.url("Map.cdm")
        for count in stride(from: 0, to: Self.bytes.count, by: 13) {
            try Data(Self.bytes.prefix(count)).write(to: file)
            #expect(NSMappingModel(contentsOf: file) == nil)
        }
        // Whatever a byte is changed to, there is a mapping model or none.
        for place in stride(from: 0, to: Self.bytes.count, by: 7) {
            var damaged = Self.bytes
            damaged[place] ^= 0xFF
            try Data(damaged).write(to: file)
            _ = NSMappingModel(contentsOf: file)
        }
        let model = NSMappingModel()
        model.entityMappings = [NSEntityMapping()]
        try model.write(to: file)
        let own = try Data(contentsOf: file)
        #expect(NSMappingModel(contentsOf: file)?.entityMappings.count == 1)
        try own.prefix(own.count / 2).write(to: file)
        #expect(NSMappingModel(contentsOf: file) == nil)
    }
}
