import CoreData
import StrataTestKit

/// Random objects of ``CompiledFetchModel``.
struct CompiledFetchWorld {
    let context: NSManagedObjectContext
    var owners: [NSManagedObject]
    var things: [NSManagedObject] = []
    let hasSubentity: Bool

    init(_ context: NSManagedObjectContext, hasSubentity: Bool = true) throws {
        self.context = context
        self.hasSubentity = hasSubentity
        owners = (0..<6).map { index in
            let owner = insert("Owner", context)
            owner.setValue(index == 0 ? nil : CompiledFetchModel.words[index], forKey: "title")
            return owner
        }
        try context.save()
    }

    mutating func change(_ count: Int, _ random: inout SeededGenerator) {
        for _ in 0..<count {
            switch random.below(things.count < 50 ? 1 : 4) {
            case 0, 1:
                let thing = insert(random.chance(0.3) && hasSubentity ? "SpecialThing" : "Thing", context)
                set(thing, &random)
                things.append(thing)
            case 2: set(things[random.below(things.count)], &random)
            default: context.delete(things.remove(at: random.below(things.count)))
            }
        }
    }

    private func set(_ thing: NSManagedObject, _ random: inout SeededGenerator) {
        for kind in CompiledFetchModel.kinds {
            for name in [kind.name, kind.name + "Twin"] {
                thing.setValue(CompiledFetchModel.value(name, &random), forKey: name)
            }
        }
        thing.setValue(random.chance(0.2) ? nil : owners[random.below(owners.count)], forKey: "owner")
    }
}
