import Foundation
import Testing

@testable import Strata
@testable import StrataSchema

@Suite struct ModelMergingTests {
    private func lonely(_ name: String) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = [ZooModel.attribute("a", .string)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test func modelsAreCombined() throws {
        let zoo = ZooModel()
        zoo.model.setEntities([zoo.person], forConfigurationName: "Local")
        let other = lonely("Rock")
        other.setEntities(other.entities, forConfigurationName: "Local")
        let merged = try #require(NSManagedObjectModel(byMerging: [zoo.model, other, ZooModel().model]))
        #expect(Set(merged.entitiesByName.keys) == ["Animal", "Dog", "Cat", "Person", "Rock"])
        #expect(merged.entities.count == 5)
        #expect(merged.entities(forConfigurationName: "Local")?.map(\.name) == ["Person", "Rock"])
        #expect(merged.problems().isEmpty)
        #expect(merged.entitiesByName["Dog"]?.superentity === merged.entitiesByName["Animal"])
        #expect(zoo.model.entities.count == 4)
    }

    @Test func differentEntitiesOfOneNameAreAProgrammerError() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            let other = ZooModel()
            other.name.isOptional = false
            _ = NSManagedObjectModel(byMerging: [zoo.model, other.model])
        }
    }

    @Test func aStoresModelIsFoundAmongVersions() throws {
        let old = ZooModel()
        let new = ZooModel()
        new.person.versionHashModifier = "2"
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: old.model.entityVersionHashesByName]
        let found = try #require(NSManagedObjectModel(byMerging: [new.model, old.model], forStoreMetadata: metadata))
        #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(found.problems().isEmpty)
        #expect(NSManagedObjectModel(byMerging: [new.model], forStoreMetadata: metadata) == nil)
    }

    @Test func filesAndDirectoriesAreRead() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let versions = directory.appendingPathComponent("Zoo.momd")
        try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let zoo = ZooModel()
        try Data(try zoo.model.encoded()).write(to: versions.appendingPathComponent("Zoo.mom"))
        #expect(NSManagedObjectModel(contentsOf: versions) == zoo.model)
        #expect(NSManagedObjectModel(contentsOf: versions.appendingPathComponent("Zoo.mom")) == zoo.model)
        let rock = lonely("Rock")
        try Data(try rock.encoded()).write(to: versions.appendingPathComponent("Zoo 2.mom"))
        #expect(NSManagedObjectModel(contentsOf: versions) == nil)
        let info = try PropertyListSerialization.data(
            fromPropertyList: ["NSManagedObjectModel_CurrentVersionName": "Zoo 2"], format: .xml, options: 0)
        try info.write(to: versions.appendingPathComponent("VersionInfo.plist"))
        #expect(NSManagedObjectModel(contentsOf: versions) == rock)
        #expect(NSManagedObjectModel(contentsOf: directory.appendingPathComponent("None.momd")) == nil)
        #expect(
            try NSManagedObjectModel.checksumsForVersionedModel(at: versions) == [
                "Zoo": zoo.model.versionChecksum, "Zoo 2": rock.versionChecksum,
            ])
        let missing = #expect(throws: CocoaError.self) {
            try NSManagedObjectModel.checksumsForVersionedModel(at: directory)
        }
        #expect(missing?.code == .fileReadNoSuchFile)
        let bundle = try #require(Bundle(path: directory.path))
        #expect(NSManagedObjectModel.mergedModel(from: [bundle]) == rock)
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: zoo.model.entityVersionHashesByName]
        let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
        #expect(found?.versionChecksum == zoo.model.versionChecksum)
    }
}
