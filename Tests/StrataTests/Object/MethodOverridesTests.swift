import CoreData
import Foundation
import Testing

@testable import Strata

private class Plain: NSManagedObject {
    var note = 0
}

private class Preparing: Plain {
    override func prepareForDeletion() { note += 1 }
}

private final class PreparingBelow: Preparing {
    func added() {}
}

private final class Saving: Plain {
    override func willSave() { note += 1 }
    override func didSave() { note += 1 }
}

private final class Awaking: Plain {
    override func awakeFromFetch() { note += 1 }
}

private final class Checking: Plain {
    override func validateForInsert() throws { try super.validateForInsert() }
    override func validateForDelete() throws { try super.validateForDelete() }
    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws { note += 1 }
}

private final class Hashing: Plain {
    override var hash: Int { 1 }
}

private final class Comparing: Plain {
    override func isEqual(_ object: Any?) -> Bool {
        note += 1
        return super.isEqual(object)
    }
}

private final class Others: Plain {
    override func awakeFromInsert() { note += 1 }
    override func willTurnIntoFault() { note += 1 }
    override var description: String { "other" }
}

/// What is found out about classes, so that methods need not be called that do nothing.
@Suite struct MethodOverridesTests {
    @Test func areFoundByClass() {
        #expect(MethodOverrides.of(NSManagedObject.self) == [])
        #expect(MethodOverrides.of(Plain.self) == [])
        #expect(MethodOverrides.of(Others.self) == [])
        #expect(MethodOverrides.of(Preparing.self) == .prepareForDeletion)
        #expect(MethodOverrides.of(PreparingBelow.self) == .prepareForDeletion)
        #expect(MethodOverrides.of(Saving.self) == [.willSave, .didSave])
        #expect(MethodOverrides.of(Awaking.self) == .awakeFromFetch)
        #expect(MethodOverrides.of(Hashing.self) == .equality)
        #expect(MethodOverrides.of(Comparing.self) == .equality)
        #expect(MethodOverrides.of(Checking.self) == [.validateForInsert, .validateForDelete, .validateValue])
    }

    /// An object may be of another class than the one that its entity names.
    @Test func objectsOfOtherClassesAreTold() throws {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(.memory, model)
        let context = store.context()
        try context.performAndWait {
            let plain = NSManagedObject(entity: entity, insertInto: context)
            let saving = Saving(entity: entity, insertInto: context)
            let preparing = Preparing(entity: entity, insertInto: context)
            #expect(plain.overrides == [] && saving.overrides == .all)
            try context.save()
            #expect(saving.note == 2 && preparing.note == 0)
            context.delete(preparing)
            #expect(preparing.note == 1)
            try context.save()
            #expect(saving.note == 2)
        }
    }
}
