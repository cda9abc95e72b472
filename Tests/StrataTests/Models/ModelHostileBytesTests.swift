import Foundation
import Testing

@testable import Strata

/// Whatever the bytes, reading them gives a model or a `ModelError`.
@Suite struct ModelHostileBytesTests {
    private func expectSafe(payload: [UInt8], _ comment: Comment) {
        do {
            let model = try NSManagedObjectModel(payload: payload)
            #expect(model.problems().isEmpty, comment)
        } catch {
            #expect(error is ModelError, comment)
        }
    }

    private func payload(seed: UInt64) throws -> [UInt8] {
        var generator = ModelGenerator(seed: seed)
        return Array(try generator.model().encoded()[ModelEncoding.headerByteCount...])
    }

    @Test func damageIsNoticed() throws {
        let bytes = try ZooModel().model.encoded()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(throws: ModelError.self, "byte \(index)") { try NSManagedObjectModel(encoded: damaged) }
        }
        for count in 0..<bytes.count {
            #expect(throws: ModelError.self, "length \(count)") {
                try NSManagedObjectModel(encoded: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: ModelError.self) { try NSManagedObjectModel(encoded: bytes + [0]) }
    }

    @Test func newerVersionsAreNamed() throws {
        var bytes = try ZooModel().model.encoded()
        bytes[8] = 2
        let error = #expect(throws: ModelError.self) { try NSManagedObjectModel(encoded: bytes) }
        #expect(error?.code == .unsupportedVersion)
    }

    /// The checksum would hide the reader from most damage, so this goes around it.
    @Test func everyByteAndEveryLengthIsSafe() throws {
        let payload = try payload(seed: 11)
        for index in payload.indices {
            for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                var damaged = payload
                damaged[index] = value
                expectSafe(payload: damaged, "byte \(index) is \(value)")
            }
        }
        for count in 0..<payload.count {
            expectSafe(payload: Array(payload.prefix(count)), "length \(count)")
        }
    }

    @Test(arguments: UInt64(1)...40)
    func randomDamageIsSafe(seed: UInt64) throws {
        let payload = try payload(seed: seed)
        var generator = ModelGenerator(seed: seed &* 977)
        for round in 0..<50 {
            var damaged = payload
            for _ in 0..<generator.number(1...6) {
                let index = generator.number(0...damaged.count - 1)
                switch generator.number(0...3) {
                case 0: damaged[index] = UInt8(truncatingIfNeeded: generator.next())
                case 1: damaged.remove(at: index)
                case 2: damaged.insert(UInt8(truncatingIfNeeded: generator.next()), at: index)
                default: damaged.append(contentsOf: damaged[index...].prefix(generator.number(1...20)))
                }
                if damaged.isEmpty { break }
            }
            expectSafe(payload: damaged, "seed \(seed), round \(round)")
        }
        expectSafe(payload: (0..<200).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, "seed \(seed)")
    }

    @Test func hugeCountsAllocateNothing() {
        expectSafe(payload: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], "2^64 - 1 strings")
        expectSafe(payload: [0, 0xff, 0xff, 0xff, 0xff, 0x0f], "2^32 identifiers")
    }

    @Test func inheritanceInACircleIsRefused() throws {
        let zoo = ZooModel()
        // "Dog" inherits from "Animal"; in the bytes both names are the same length as those that replace them.
        zoo.animal.name = "Owl"
        zoo.cat.name = "Rat"
        zoo.person.name = "Man"
        let text = Array("Owl".utf8)
        let payload = Array(try zoo.model.encoded()[ModelEncoding.headerByteCount...])
        let at = try #require(payload.indices.first { payload[$0...].starts(with: text) })
        var circle = payload
        circle.replaceSubrange(at..<at + 3, with: Array("Dog".utf8))
        expectSafe(payload: circle, "two entities Dog")
    }

    @Test(arguments: [0, 1])
    func inheritanceIsLimited(extra: Int) throws {
        let entities = (0...NSEntityDescription.maximumInheritanceDepth + extra).map { index in
            let entity = NSEntityDescription()
            entity.name = "E\(index)"
            return entity
        }
        for (parent, child) in zip(entities, entities.dropFirst()) { parent.subentities = [child] }
        let model = NSManagedObjectModel()
        model.entities = entities
        #expect(model.problems().count == extra)
        let bytes = try model.encoded()
        if extra == 0 {
            #expect(try NSManagedObjectModel(encoded: bytes) == model)
        } else {
            #expect(throws: ModelError.self) { try NSManagedObjectModel(encoded: bytes) }
        }
    }
}
