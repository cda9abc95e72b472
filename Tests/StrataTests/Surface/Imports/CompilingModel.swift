import CoreData
import Foundation

enum CompilingModel {
    static let model: NSManagedObjectModel = {
        ManagedObjectClasses.register(CompilingPerson.self, CompilingPlace.self, CompilingTown.self)
        let person = GraphModel.entity("CompilingPerson", CompilingPerson.self)
        let place = GraphModel.entity("CompilingPlace", CompilingPlace.self)
        let town = GraphModel.entity("CompilingTown", CompilingTown.self)
        let visitors = GraphModel.relationship("visitors", to: person, toMany: true)
        let visited = GraphModel.relationship("visited", to: place)
        GraphModel.link(visitors, visited)
        person.properties = [GraphModel.attribute("name", .stringAttributeType), visited]
        place.properties = [GraphModel.attribute("title", .stringAttributeType), visitors]
        place.subentities = [town]
        let model = NSManagedObjectModel()
        model.entities = [person, place, town]
        return model
    }()
}
