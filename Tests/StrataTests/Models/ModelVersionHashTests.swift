import Foundation
import StrataModelFile
import Testing

@testable import Strata
@testable import StrataSchema

@Suite struct ModelVersionHashTests {
    @Test func digestIsSHA256() {
        let hex = { (text: String) in
            SHA256Digest.hash(Array(text.utf8)).map { String(UInt32($0) + 256, radix: 16).dropFirst() }.joined()
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            hex(String(repeating: "a", count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// Stores keep these bytes: a change would make every store incompatible.
    @Test func hashesNeverChange() {
        let zoo = ZooModel()
        #expect(zoo.dog.versionHash.count == 32)
        #expect(zoo.model.versionChecksum == "W8KxkdpcywTA11Y/5Q7teM7nt6PAe5J+DfeAKv/BUDw=")
    }

    /// The build plugin lists them beside compiled models, and the library takes them for its own.
    @Test func aDocumentHasTheHashesOfItsModel() throws {
        #expect(try ZooModel().model.document().versionHashes() == ZooModel().model.entityVersionHashesByName)
        var count = 0
        for seed in UInt64(1)...200 {
            var generator = ModelGenerator(seed: seed)
            let model = generator.model()
            model.versionIdentifiers = []
            guard let document = try? model.document() else { continue }
            let read = try NSManagedObjectModel(document: document)
            let isDerived =
                document.entities.contains { $0.attributes.contains { $0.isDerived } }
                || document.composites.contains { $0.attributes.contains { $0.isDerived } }
            let hashes = document.versionHashes()
            #expect((hashes == nil) == isDerived, "seed \(seed)")
            guard let hashes else { continue }
            #expect(hashes == read.entityVersionHashesByName, "seed \(seed)")
            count += 1
        }
        #expect(count > 10)
    }

    @Test func aDocumentThatIsNoModelHasNoHashes() {
        var document = ModelDocument()
        #expect(document.versionHashes() == [:])
        document.entities = [ModelDocument.Entity(name: "A"), ModelDocument.Entity(name: "B")]
        #expect(document.versionHashes()?.count == 2)
        document.entities[0].parentName = "B"
        document.entities[1].parentName = "A"
        #expect(document.versionHashes() == nil)
        document.entities[1].parentName = "C"
        #expect(document.versionHashes() == nil)
        document.entities[1] = ModelDocument.Entity(name: "A")
        #expect(document.versionHashes() == nil)
        var part = ModelDocument.Attribute(name: "part", type: .composite)
        part.compositeName = "Loop"
        document.entities = [ModelDocument.Entity(name: "A")]
        document.entities[0].attributes = [part]
        #expect(document.versionHashes() == nil)
        var loop = ModelDocument.Composite(name: "Loop")
        loop.attributes = [part]
        document.composites = [loop]
        #expect(document.versionHashes() == nil)
    }

    static let changing: [(String, @Sendable (ZooModel) -> Void)] = [
        ("entity name", { $0.person.name = "Human" }),
        ("abstract", { $0.dog.isAbstract = true }),
        ("entity modifier", { $0.person.versionHashModifier = "2" }),
        ("parent", { $0.animal.subentities = [$0.dog] }),
        ("property name", { $0.name.name = "title" }),
        ("property added", { $0.cat.properties = [ZooModel.attribute("lives", .integer16)] }),
        ("property removed", { $0.dog.properties = [] }),
        ("optional", { $0.name.isOptional = false }),
        ("transient", { $0.name.isTransient = true }),
        ("property modifier", { $0.name.versionHashModifier = "2" }),
        ("type", { $0.name.type = .uri }),
        ("destination", { $0.owner.destinationEntity = $0.dog }),
        ("inverse", { $0.owner.inverseRelationship = nil }),
        ("minimum", { $0.pets.minCount = 1 }),
        ("maximum", { $0.pets.maxCount = 9 }),
        ("delete rule", { $0.pets.deleteRule = .cascadeDeleteRule }),
        ("order", { $0.pets.isOrdered = true }),
        ("constraint", { $0.person.uniquenessConstraints = [["born"]] }),
        ("constraint of the parent", { $0.animal.uniquenessConstraints = [["name"]] }),
    ]

    /// As Core Data's documentation says: "This value forms part of the entity's version hash."
    @Test func constraintsAreOneWhateverTheirOrder() {
        func hash(_ constraints: [[Any]]) -> Data {
            let zoo = ZooModel()
            zoo.person.uniquenessConstraints = constraints
            return zoo.person.versionHash
        }
        #expect(hash([["born", "name"], ["born"]]) == hash([["born"], ["name", "born"]]))
        #expect(hash([["born", "name"]]) != hash([["born"], ["name"]]))
        #expect(hash([["born"], ["born"]]) == hash([["born"]]))
        #expect(hash([[ZooModel.attribute("born", .date)]]) == hash([["born"]]))
    }

    @Test(arguments: changing.indices)
    func persistentShapeChangesTheHash(index: Int) {
        let zoo = ZooModel()
        let before = zoo.model.versionChecksum
        Self.changing[index].1(zoo)
        #expect(zoo.model.versionChecksum != before, "\(Self.changing[index].0)")
    }

    static let harmless: [(String, @Sendable (ZooModel) -> Void)] = [
        ("class", { $0.person.managedObjectClassName = "Human" }),
        ("entity user info", { $0.person.userInfo = ["a": 1] }),
        ("entity renaming", { $0.person.renamingIdentifier = "Human" }),
        ("default", { $0.name.defaultValue = "Rex" }),
        ("property user info", { $0.name.userInfo = ["a": 1] }),
        ("property renaming", { $0.name.renamingIdentifier = "title" }),
        ("value class", { $0.name.attributeValueClassName = "Name" }),
        ("transformer", { $0.name.valueTransformerName = "Name" }),
        ("external", { $0.name.allowsExternalBinaryDataStorage = true }),
        ("history", { $0.name.preservesValueInHistoryOnDeletion = true }),
        ("spotlight", { $0.name.isIndexedBySpotlight = true }),
        (
            "validation",
            { $0.name.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["no"]) }
        ),
        (
            "index",
            {
                let element = NSFetchIndexElementDescription(property: $0.name, collationType: .binary)
                $0.animal.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
            }
        ),
        ("configuration", { $0.model.setEntities([$0.person], forConfigurationName: "People") }),
        ("identifiers", { $0.model.versionIdentifiers = ["2"] }),
        ("order of properties", { $0.animal.properties.reverse() }),
        ("order of entities", { $0.model.entities.reverse() }),
        ("use", { $0.model.freeze() }),
    ]

    @Test(arguments: harmless.indices)
    func theRestDoesNot(index: Int) {
        let zoo = ZooModel()
        let before = zoo.model.entityVersionHashesByName
        Self.harmless[index].1(zoo)
        #expect(zoo.model.entityVersionHashesByName == before, "\(Self.harmless[index].0)")
    }

    @Test func subentitiesFollowTheirParent() {
        let zoo = ZooModel()
        let before = zoo.model.entityVersionHashesByName
        zoo.name.isOptional = false
        let after = zoo.model.entityVersionHashesByName
        #expect(before["Dog"] != after["Dog"])
        #expect(before["Person"] == after["Person"])
    }

    @Test func compatibilityComparesTheConfiguration() {
        let zoo = ZooModel()
        zoo.model.setEntities([zoo.person], forConfigurationName: "People")
        let all: [String: Any] = [NSStoreModelVersionHashesKey: zoo.model.entityVersionHashesByName]
        #expect(zoo.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
        // A store of the whole model opens with a part of it, but no other way round.
        #expect(zoo.model.isConfiguration(withName: "People", compatibleWithStoreMetadata: all))
        let people: [String: Any] = [NSStoreModelVersionHashesKey: ["Person": zoo.person.versionHash]]
        #expect(zoo.model.isConfiguration(withName: "People", compatibleWithStoreMetadata: people))
        #expect(!zoo.model.isConfiguration(withName: "Other", compatibleWithStoreMetadata: people))
        #expect(!zoo.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: people))
        let gone = zoo.model.entityVersionHashesByName.merging(["Gone": Data([1])]) { first, _ in first }
        for name in ["People", nil] {
            let metadata: [String: Any] = [NSStoreModelVersionHashesKey: gone]
            #expect(!zoo.model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata))
        }
        #expect(!zoo.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        zoo.person.versionHashModifier = "2"
        #expect(!zoo.model.isConfiguration(withName: "People", compatibleWithStoreMetadata: people))
    }
}
