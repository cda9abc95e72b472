import CoreData
import Testing

@testable import StrataSchema

/// The deepest hierarchy of entities that a model may have.
@Suite struct InheritanceDepthTests {
    /// An entity with so many ancestors.
    private static func model(_ ancestorCount: Int) -> NSManagedObjectModel {
        let entities = (0...ancestorCount).map { index in
            let entity = NSEntityDescription()
            entity.name = "E\(index)"
            return entity
        }
        for (above, below) in zip(entities, entities.dropFirst()) { above.subentities = [below] }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    @Test func anEntityHas64AncestorsAtMost() {
        #expect(Self.model(64).problems() == [])
        #expect(Self.model(65).problems() == ["entity 'E65' has over 64 ancestors"])
    }
}
