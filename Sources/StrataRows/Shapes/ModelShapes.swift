import Foundation
import StrataSupport

/// All entities of one model, compiled.
///
/// Made when a model is first used by a coordinator or to create an object, and kept for the life of the process; see
/// ``EntityShape``.
@usableFromInline
package final class ModelShapes: @unchecked Sendable {
    // Unchecked: everything is set while `compile` runs under the lock, and constant after it.
    @exclusivity(unchecked) package private(set) var shapes: [EntityShape] = []
    @exclusivity(unchecked) package private(set) var byName: [String: EntityShape] = [:]
    @exclusivity(unchecked) package private(set) var links: [LinkShape] = []
    /// Whether some entity has derived attributes.
    @exclusivity(unchecked) package private(set) var hasDerivations = false
    /// Whether some relationship is one-to-one.
    @exclusivity(unchecked) package private(set) var hasPartners = false
    /// What has to be watched to keep derived attributes right.
    @exclusivity(unchecked) package private(set) var dependencies: [DerivationDependency] = []
    /// By ``number(_:)``.
    private var byClass = NumberTable<EntityShape>()
    package let model: NSManagedObjectModel

    /// The names of attributes whose values a transformer makes.
    var transformableNames: Set<String> {
        Set(shapes.flatMap { $0.slots.filter { $0.kind == .transformable }.map(\.name) })
    }

    private struct Known {
        var nextID: UInt32 = 1
        /// By ``number(_:)``.
        var shapesByClass = NumberTable<[EntityShape]>()
    }
    private static let known = AdaptiveMutex<Known>(Known())

    private init(model: NSManagedObjectModel) {
        self.model = model
    }

    /// The shape of objects that stand for no entity: of one without name and properties, which no class is looked up
    /// for.
    package static let nameless: EntityShape = {
        let model = NSManagedObjectModel()
        model.entities = [NSEntityDescription()]
        model.freeze(isChecked: false)
        let shapes = ModelShapes(model: model)
        known.withLock { shapes.compile(&$0.nextID) { _ in .none } }
        _ = model.compiledForm.storeIfNil(shapes)
        let shape = shapes.shapes[0]
        return shape.entity.keepShape(shape)
    }()

    /// The compiled form of a model; freezes and compiles it the first time.
    ///
    /// - Parameter classOf: finds the class that an entity names.
    package static func of(_ model: NSManagedObjectModel, classOf: (NSEntityDescription) -> EntityClass) -> ModelShapes
    {
        if let shapes = model.shapes { return shapes }
        model.freeze()
        return known.withLock { known in
            if let shapes = model.shapes { return shapes }
            let shapes = ModelShapes(model: model)
            shapes.compile(&known.nextID, classOf)
            for shape in shapes.shapes {
                _ = shape.entity.keepShape(shape)
                let number = shape.entityClass.number
                known.shapesByClass[number] = (known.shapesByClass[number] ?? []) + [shape]
            }
            _ = model.compiledForm.storeIfNil(shapes)
            return shapes
        }
    }

    /// The shapes in all compiled models whose objects are of this class.
    package static func shapes(ofClass type: AnyClass) -> [EntityShape] {
        known.withLock { $0.shapesByClass[number(type)] ?? [] }
    }

    /// The only shape of this model whose objects are of the class; nil when there is none or more than one.
    package func shape(ofClass type: AnyClass) -> EntityShape? {
        byClass[Self.number(type)]
    }

    /// A class as a number. Classes are never freed.
    private static func number(_ type: AnyClass) -> UInt64 {
        UInt64(UInt(bitPattern: ObjectIdentifier(type)))
    }

    private func compile(_ nextID: inout UInt32, _ classOf: (NSEntityDescription) -> EntityClass) {
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            add(entity, &nextID, classOf)
        }
        for shape in shapes { shape.link() }
        hasDerivations = shapes.contains { !$0.derivations.isEmpty }
        hasPartners = shapes.contains { !$0.partners.isEmpty }
        dependencies = shapes.flatMap { DerivationDependency.of($0) }
        var ambiguous: [UInt64] = []
        for shape in shapes {
            let key = shape.entityClass.number
            if let other = byClass[key] {
                // A subentity that has no class of its own shares its parent's; the class then stands for the parent.
                if shape.isKind(of: other) { continue }
                if other.isKind(of: shape) { byClass[key] = shape } else { ambiguous.append(key) }
            } else {
                byClass[key] = shape
            }
        }
        for key in ambiguous { byClass[key] = nil }
    }

    @discardableResult
    private func add(
        _ entity: NSEntityDescription, _ nextID: inout UInt32, _ classOf: (NSEntityDescription) -> EntityClass
    ) -> EntityShape {
        if let shape = byName[entity.name ?? ""] { return shape }
        let parent = entity.superentity.map { add($0, &nextID, classOf) }
        let shape = EntityShape(
            id: nextID, index: shapes.count, entity: entity, parent: parent, model: self,
            entityClass: classOf(entity),
            layout: ShapeLayout(entity: entity, parent: parent))
        nextID += 1
        shapes.append(shape)
        byName[shape.name] = shape
        return shape
    }

    /// The hidden entity for a relationship that is to-many at both ends or has no inverse, and which side the owner
    /// is.
    func linkStorage(for relationship: RelationshipShape) -> RelationshipStorage {
        let own = "\(relationship.declaringName).\(relationship.name)"
        var name = own
        if let inverse = relationship.inverse {
            name = min(own, "\(inverse.declaringName).\(inverse.name)")
        }
        let side = own == name ? 0 : 1
        if let link = links.first(where: { $0.name == name }) { return .link(link, side: side) }
        let link = LinkShape(index: links.count, name: name)
        links.append(link)
        return .link(link, side: side)
    }
}
