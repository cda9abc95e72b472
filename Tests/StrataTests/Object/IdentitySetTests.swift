import Testing

@testable import Strata

/// A set by identity against the standard one.
struct IdentitySetTests {
    @Test(arguments: [1, 7, 42] as [UInt64])
    func agreesWithSet(seed: UInt64) throws {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let objects = (0..<200).map { _ in NSManagedObject(entity: entity, insertInto: nil) }
        var random = seed
        var set = IdentitySet()
        var expected: Set<NSManagedObject> = []
        for step in 0..<20_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let object = objects[Int(random >> 33) % objects.count]
            // Long runs of one kind, so that the set becomes full and empty in turn.
            if random >> 40 & 7 < (step / 500 % 2 == 0 ? 6 : 2) {
                let isNew = set.insert(object)
                #expect(isNew == expected.insert(object).inserted, "seed \(seed), step \(step)")
            } else {
                let wasThere = set.remove(object)
                #expect(wasThere == (expected.remove(object) != nil), "seed \(seed), step \(step)")
            }
            if step % 1_000 == 999 {
                #expect(Set(set.objects) == expected, "seed \(seed), step \(step)")
                let isMember = objects.map { set.contains($0) }
                #expect(isMember == objects.map { expected.contains($0) }, "seed \(seed), step \(step)")
            }
        }
        set.removeAll()
        #expect(set.isEmpty && set.objects.isEmpty)
    }

    @Test func membersLiveAsLongAsTheSet() {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        var set = IdentitySet()
        weak var member: NSManagedObject?
        do {
            let object = NSManagedObject(entity: entity, insertInto: nil)
            member = object
            set.insert(object)
        }
        #expect(member != nil)
        set.removeAll()
        #expect(member == nil)
    }

    @Test func equalityIsIdentityHoweverItIsAskedFor() {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let object = NSManagedObject(entity: entity, insertInto: nil)
        let other = NSManagedObject(entity: entity, insertInto: nil)
        #expect(object.isEqual(object) && object.isEqual(Optional(object) as Any))
        #expect(!object.isEqual(other) && !object.isEqual(nil) && !object.isEqual(1) && !object.isEqual("a"))
        #expect(object.objectID.isEqual(object.objectID) && !object.objectID.isEqual(other.objectID))
        #expect(!object.objectID.isEqual(nil) && !object.objectID.isEqual(object))
    }
}
