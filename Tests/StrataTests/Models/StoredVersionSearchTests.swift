import Foundation
import StrataModelFile
import Testing

@testable import Strata
@testable import StrataSchema

/// Which version of a model a store was written with.
@Suite struct StoredVersionSearchTests {
    /// A model of entities with one attribute each, whose default value takes no part in hashes.
    private func model(
        _ names: [String], type: NSAttributeType = .stringAttributeType, mark: String
    ) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = names.map { name in
            let attribute = NSAttributeDescription()
            attribute.name = "x"
            attribute.attributeType = type
            if type == .stringAttributeType { attribute.defaultValue = mark }
            attribute.userInfo = ["mark": mark]
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = [attribute]
            return entity
        }
        model.versionIdentifiers = [mark]
        return model
    }

    private func metadata(_ hashes: [String: Data]) -> [String: Any] { [NSStoreModelVersionHashesKey: hashes] }
    private func metadata(_ model: NSManagedObjectModel) -> [String: Any] { metadata(model.entityVersionHashesByName) }

    private func found(_ models: [NSManagedObjectModel], _ metadata: [String: Any]) throws -> NSManagedObjectModel {
        try #require(NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata))
    }

    /// Each entity came from the first version that had its hash, and the mixture was equal to no version: a migrator
    /// that goes from version to version looked for it in vain.
    @Test func theVersionWhoseHashesAllFitIsFoundWhole() throws {
        let versions = [
            model(["A"], mark: "1"), model(["A", "B"], mark: "2"), model(["A", "B", "C"], mark: "3"),
            model(["A", "B", "C"], type: .integer64AttributeType, mark: "4"),
            model(["C"], mark: "5"),
        ]
        versions[1].setEntities([versions[1].entities[0]], forConfigurationName: "Part")
        versions[1].localizationDictionary = ["Entity/A": "Erste"]
        versions[1].setFetchRequestTemplate(NSFetchRequest(entityName: "B"), forName: "all")
        for order in [versions, versions.reversed()] {
            for version in versions {
                let copy = try found(order, metadata(version))
                #expect(copy.isEqual(version) && copy !== version, "\(version.versionIdentifiers)")
                #expect(copy.localizationDictionary == version.localizationDictionary)
                #expect(copy.configurations == version.configurations)
            }
        }
    }

    @Test func ofVersionsWithTheSameHashesTheFirstCounts() throws {
        let versions = ["1", "2", "3"].map { model(["A", "B"], mark: $0) }
        for order in [versions, versions.reversed()] {
            #expect(try found(order, metadata(order[2])).isEqual(order[0]))
        }
    }

    /// As of a program whose model is merged of those of several bundles.
    @Test func aStoreOfSeveralModelsIsOfOneVersionOfEach() throws {
        let left = ["1", "2"].map { model($0 == "1" ? ["A"] : ["A", "B"], mark: "left \($0)") }
        let right = ["1", "2"].map { model($0 == "1" ? ["X", "Y"] : ["X", "Y", "Z"], mark: "right \($0)") }
        let both = try #require(NSManagedObjectModel(byMerging: [left[1], right[0]]))
        let all = left + right
        for order in [all, all.reversed()] {
            #expect(try found(order, metadata(both)).isEqual(both))
        }
        // Models that share an entity.
        let shared = model(["B", "Q"], mark: "shared")
        let hashes = left[1].entityVersionHashesByName.merging(shared.entityVersionHashesByName) { $1 }
        let mixed = try found([shared] + left, metadata(hashes))
        #expect(Set(mixed.entitiesByName.keys) == ["A", "B", "Q"] && mixed.entityVersionHashesByName == hashes)
    }

    /// A store that was written with a configuration has not all entities of any version.
    @Test func entitiesOfAConfigurationComeFromOneVersion() throws {
        let versions = [
            model(["A", "C"], mark: "1"), model(["A", "B", "C"], mark: "2"), model(["A", "B", "D"], mark: "3"),
        ]
        let hashes = versions[1].entityVersionHashesByName.filter { $0.key != "C" }
        let part = try found(versions, metadata(hashes))
        #expect(part.entityVersionHashesByName == hashes)
        for entity in part.entities {
            #expect(entity.attributesByName["x"]?.defaultValue as? String == "2")
        }
        #expect(part.versionIdentifiers == ["2"])
        #expect(NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata(["E": Data([1])])) == nil)
        #expect(NSManagedObjectModel(byMerging: versions, forStoreMetadata: [:]) == nil)
    }

    // MARK: Bundles

    /// Calls with a bundle that has the compiled versions of a model, and its directory.
    private func withBundle(_ versions: [NSManagedObjectModel], _ body: (Bundle, URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "versions-\(UUID().uuidString).bundle")
        defer { try? FileManager.default.removeItem(at: directory) }
        let momd = directory.appendingPathComponent("Many.momd")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let documents = try versions.enumerated().map { index, model in
            VersionedModel.Version(name: "Many \(1000 + index)", document: try model.document())
        }
        try VersionedModel(versions: documents, currentName: "Many 1000").writeCompiled(to: momd)
        try body(try #require(Bundle(path: directory.path)), momd)
    }

    /// A hundred versions took seconds, since all of them were read and hashed for each call.
    @Test func aBundlesVersionIsFoundWithoutReadingTheOthers() throws {
        let names = (0..<10).map { "Entity\($0)" }
        let versions = (0..<100).map { number in
            let version = model(names, mark: "\(number)")
            for entity in version.entities.prefix(3) { entity.versionHashModifier = "\(number)" }
            return version
        }
        try withBundle(versions) { bundle, momd in
            for number in [0, 57, 99] {
                let found = NSManagedObjectModel.mergedModel(
                    from: [bundle], forStoreMetadata: metadata(versions[number]))
                #expect(found?.isEqual(versions[number]) == true)
            }
            for number in 0..<100 where number != 57 {
                try Data("garbage".utf8).write(to: momd.appendingPathComponent("Many \(1000 + number).mom"))
            }
            let metadata = metadata(versions[57])
            let start = ContinuousClock.now
            let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
            // Milliseconds; this is a loaded machine, in debug.
            #expect(ContinuousClock.now - start < .seconds(1))
            #expect(found?.isEqual(versions[57]) == true)
            let reference = NSManagedObjectModelReference(
                entityVersionHashes: versions[57].entityVersionHashesByName, in: bundle,
                versionChecksum: versions[57].versionChecksum)
            #expect(try reference.resolve().isEqual(versions[57]))
            let byChecksum = NSManagedObjectModel.version(
                withChecksum: versions[57].versionChecksum, in: [bundle])
            #expect(byChecksum?.isEqual(versions[57]) == true)
            #expect(NSManagedObjectModel.version(withChecksum: "none", in: [bundle]) == nil)
        }
    }

    /// The list is from one build, and the files from another, or from Apple's tools.
    @Test(arguments: [true, false]) func aListThatSaysNothingTrueIsNotBelieved(isThere: Bool) throws {
        let versions = ["1", "2"].map { number in
            let version = model(["A", "B"], mark: number)
            version.entities[0].versionHashModifier = number
            return version
        }
        let other = model(["A", "B"], type: .dateAttributeType, mark: "3")
        try withBundle(versions) { bundle, momd in
            let file = momd.appendingPathComponent("Many 1001.mom")
            try CompiledModel.data(of: try other.document()).write(to: file)
            let info = momd.appendingPathComponent("VersionInfo.plist")
            if !isThere { try FileManager.default.removeItem(at: info) }
            for version in [versions[0], other] {
                let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata(version))
                #expect(found?.isEqual(version) == true)
                let checksum = version.versionChecksum
                #expect(NSManagedObjectModel.version(withChecksum: checksum, in: [bundle])?.isEqual(version) == true)
            }
            #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata(versions[1])) == nil)
        }
    }

    @Test func aVersionWithADerivedAttributeIsReadForItsHashes() throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "d"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "lowercase:(x)")
        let versions = ["1", "2"].map { model(["A"], mark: $0) }
        versions[1].entities[0].properties.append(derived)
        try withBundle(versions) { bundle, momd in
            #expect(VersionInfo(in: momd)?.hashes["Many 1001"] == [:])
            for version in versions {
                let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata(version))
                #expect(found?.isEqual(version) == true)
            }
        }
    }
}
