import CoreData
import Foundation
import Testing

@Suite struct InheritanceTests {
    @Test func abstractEntitiesHaveNoObjects() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, NodeModel.figures())
            _ = make("Figure", store.context())
        }
    }

    @Test(arguments: StoreKind.allCases) func subentitiesShareAKeySpace(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.figures())
        let context = store.context()
        let uris = try context.performAndWait {
            let figures = (0..<12).map { index in
                make(["Circle", "Square", "BigSquare"][index % 3], context, ["name": "f\(index)"])
            }
            try context.save()
            let keys = figures.map { $0.objectID.uriRepresentation().lastPathComponent }
            #expect(Set(keys).count == 12)
            return figures.map { $0.objectID.uriRepresentation() }
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            for (index, uri) in uris.enumerated() {
                let id = try #require(store.coordinator.managedObjectID(forURIRepresentation: uri))
                let object = try other.existingObject(with: id)
                #expect(object.entity.name == ["Circle", "Square", "BigSquare"][index % 3])
                #expect(object.value(forKey: "name") as? String == "f\(index)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func fetchesOfParents(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.figures())
        let context = store.context()
        try context.performAndWait {
            for index in 0..<6 { _ = make(["Circle", "Square", "BigSquare"][index % 3], context) }
            for _ in 0..<2 {
                func count(_ entity: String, _ includes: Bool) throws -> [Int] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    request.includesSubentities = includes
                    return [try context.fetch(request).count, try context.count(for: request)]
                }
                #expect(try count("Figure", true) == [6, 6] && count("Figure", false) == [0, 0])
                #expect(try count("Square", true) == [4, 4] && count("Square", false) == [2, 2])
                #expect(try count("BigSquare", true) == [2, 2] && count("Circle", true) == [2, 2])
                try context.save()
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsToAParentHoldChildren(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.figures())
        let context = store.context()
        let id = try context.performAndWait {
            let drawing = make("Drawing", context)
            let figures = ["Circle", "Square", "BigSquare"].map { make($0, context, ["name": $0]) }
            drawing.mutableSetValue(forKey: "figures").addObjects(from: figures)
            drawing.setValue(figures[2], forKey: "cover")
            try context.save()
            return drawing.objectID
        }
        let other = store.context()
        try other.performAndWait {
            let drawing = other.object(with: id)
            let figures = try #require(drawing.value(forKey: "figures") as? Set<NSManagedObject>)
            #expect(Set(figures.compactMap(\.entity.name)) == ["Circle", "Square", "BigSquare"])
            let cover = try #require(drawing.value(forKey: "cover") as? NSManagedObject)
            #expect(cover.entity.name == "BigSquare" && figures.contains(cover))
            #expect(cover.objectIDs(forRelationshipNamed: "covers") == [id])
            #expect(drawing.objectIDs(forRelationshipNamed: "cover").first?.entity.name == "BigSquare")
            cover.setValue(nil, forKey: "drawing")
            try other.save()
            other.refreshAllObjects()
            #expect(drawing.mutableSetValue(forKey: "figures").count == 2)
            #expect(cover.entity.isKindOf(entity: cover.entity.superentity!))
        }
    }

    @Test func otherEntitiesAreRefused() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, NodeModel.figures())
            let context = store.context()
            make("Drawing", context).mutableSetValue(forKey: "figures").add(make("Drawing", context))
        }
    }
}
