import Foundation
import StrataSupport

extension ModelShapes {
    /// The compiled form of a model; freezes and compiles it the first time.
    static func of(_ model: NSManagedObjectModel) -> ModelShapes {
        of(model) { entity in
            let type = ManagedObjectClasses.objectClass(of: entity)
            return EntityClass(type, .of(type))
        }
    }
}

extension EntityShape {
    /// The class that the entity names.
    var objectClass: NSManagedObject.Type {
        guard let type = entityClass.type else { return NSManagedObject.self }
        // SAFETY: ``ModelShapes/of(_:)`` compiles no other classes.
        return unsafeBitCast(type, to: NSManagedObject.Type.self)
    }

    /// The shape of an entity; compiles its model the first time.
    ///
    /// - Precondition: the entity is in a model.
    static func of(_ entity: NSEntityDescription) -> EntityShape {
        if let shape = entity.shape { return shape }
        guard let shape = ModelShapes.of(entity.managedObjectModel).byName[entity.name ?? ""], shape.entity === entity
        else {
            programmerError(
                "NSEntityDescription '\(entity.name ?? "")'", "the entity is not in its model any more",
                "Take the entity from the model that the coordinator uses")
        }
        return shape
    }

    /// The shape of an entity for an object that a context inserts: of the context's own model. Without a count of it,
    /// as shapes are never freed.
    ///
    /// - Precondition: the context's model has an entity of this name.
    @inline(__always)
    static func reference(
        of entity: NSEntityDescription, for context: NSManagedObjectContext?
    ) -> Unmanaged<EntityShape> {
        context?.shapeReference(of: entity) ?? entity.shapeReference ?? .passUnretained(of(entity))
    }

    /// As ``reference(of:for:)``, for a context that does not know the entity yet.
    static func search(_ entity: NSEntityDescription, for context: NSManagedObjectContext) -> EntityShape {
        let shape = of(entity)
        guard shape.model !== context.coordinator?.shapes else { return shape }
        guard let own = context.coordinator?.shapes.byName[shape.name] else {
            programmerError(
                shape.name, "the entity is not in the model of the context's coordinator",
                "Load the model once and make entities, containers and coordinators of that one")
        }
        return own
    }
}
