import CoreData
import Foundation

/// A model with every kind of relationship, and one with abstract entities.
enum NodeModel {
    static let one = ToOneSlot<NSManagedObject>("next")
    static let items = ToManySlot<NSManagedObject>("items")
    static let left = ToManySlot<NSManagedObject>("left")

    /// One entity that relates to itself in all ways.
    static func nodes() -> NSManagedObjectModel {
        let node = GraphModel.entity("Node")
        func relation(_ name: String, toMany: Bool = false, ordered: Bool = false) -> NSRelationshipDescription {
            GraphModel.relationship(name, to: node, toMany: toMany, ordered: ordered)
        }
        let next = relation("next")
        let previous = relation("previous")
        GraphModel.link(next, previous)
        let parent = relation("parent")
        let children = relation("children", toMany: true)
        GraphModel.link(parent, children)
        let owner = relation("owner")
        let items = relation("items", toMany: true, ordered: true)
        GraphModel.link(owner, items)
        let friends = relation("friends", toMany: true)
        friends.inverseRelationship = friends
        let follows = relation("follows", toMany: true)
        let followers = relation("followers", toMany: true)
        GraphModel.link(follows, followers)
        let queue = relation("queue", toMany: true, ordered: true)
        let queuedIn = relation("queuedIn", toMany: true)
        GraphModel.link(queue, queuedIn)
        let left = relation("left", toMany: true, ordered: true)
        let right = relation("right", toMany: true, ordered: true)
        GraphModel.link(left, right)
        node.properties = [
            GraphModel.attribute("key", .integer64AttributeType, default: 0), next, previous, parent, children, owner,
            items, friends, follows, followers, queue, queuedIn, left, right,
        ]
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    /// Figures, of which there are circles and squares, in drawings.
    static func figures() -> NSManagedObjectModel {
        let figure = GraphModel.entity("Figure")
        figure.isAbstract = true
        let circle = GraphModel.entity("Circle")
        let square = GraphModel.entity("Square")
        let bigSquare = GraphModel.entity("BigSquare")
        let drawing = GraphModel.entity("Drawing")
        let drawingOf = GraphModel.relationship("drawing", to: drawing)
        let figures = GraphModel.relationship("figures", to: figure, toMany: true)
        GraphModel.link(drawingOf, figures)
        let cover = GraphModel.relationship("cover", to: figure)
        let covers = GraphModel.relationship("covers", to: drawing, toMany: true)
        GraphModel.link(cover, covers)
        figure.properties = [GraphModel.attribute("name", .stringAttributeType), drawingOf, covers]
        circle.properties = [GraphModel.attribute("radius", .doubleAttributeType)]
        square.properties = [GraphModel.attribute("side", .doubleAttributeType)]
        bigSquare.properties = [GraphModel.attribute("size", .integer16AttributeType)]
        drawing.properties = [figures, cover]
        figure.subentities = [circle, square]
        square.subentities = [bigSquare]
        let model = NSManagedObjectModel()
        model.entities = [figure, circle, square, bigSquare, drawing]
        return model
    }
}

/// A new object of an entity that has no class of its own.
func make(_ entity: String, _ context: NSManagedObjectContext, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValuesForKeys(values)
    return object
}
