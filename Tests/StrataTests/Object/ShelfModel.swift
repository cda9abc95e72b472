import CoreData
import Foundation
import Testing

/// A shelf, which has books in order in each way that a relationship can be kept.
final class Shelf: NSManagedObject {
    static let ownSlot = ToManySlot<NSManagedObject>("own")
    static let sharedSlot = ToManySlot<NSManagedObject>("shared")
    static let looseSlot = ToManySlot<NSManagedObject>("loose")

    /// Kept by the books, each of which is in one shelf.
    var own: [NSManagedObject] {
        get { ordered(Self.ownSlot) }
        set { setOrdered(newValue, Self.ownSlot) }
    }
    /// To-many at both ends.
    var shared: [NSManagedObject] {
        get { ordered(Self.sharedSlot) }
        set { setOrdered(newValue, Self.sharedSlot) }
    }
    /// Without an inverse.
    var loose: [NSManagedObject] {
        get { ordered(Self.looseSlot) }
        set { setOrdered(newValue, Self.looseSlot) }
    }

    override class var propertyNames: [AnyKeyPath: String] {
        [\Shelf.own: "own", \Shelf.shared: "shared", \Shelf.loose: "loose"]
    }

    static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Shelf.self)
        let shelf = GraphModel.entity("Shelf", Shelf.self)
        let book = GraphModel.entity("Book")
        let own = GraphModel.relationship("own", to: book, toMany: true, ordered: true)
        let ownedBy = GraphModel.relationship("ownedBy", to: shelf)
        GraphModel.link(own, ownedBy)
        let shared = GraphModel.relationship("shared", to: book, toMany: true, ordered: true)
        let sharedBy = GraphModel.relationship("sharedBy", to: shelf, toMany: true)
        GraphModel.link(shared, sharedBy)
        let loose = GraphModel.relationship("loose", to: book, toMany: true, ordered: true)
        shelf.properties = [GraphModel.attribute("name", .stringAttributeType), own, shared, loose]
        book.properties = [GraphModel.attribute("title", .stringAttributeType), ownedBy, sharedBy]
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        return model
    }

    /// One of the relationships.
    enum Relation: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case own, shared, loose

        var testDescription: String { rawValue }

        var keyPath: ReferenceWritableKeyPath<Shelf, [NSManagedObject]> {
            switch self {
            case .own: \.own
            case .shared: \.shared
            case .loose: \.loose
            }
        }

        var slot: ToManySlot<NSManagedObject> {
            switch self {
            case .own: Shelf.ownSlot
            case .shared: Shelf.sharedSlot
            case .loose: Shelf.looseSlot
            }
        }
    }

    /// Where a shelf of the books a, b, c and d is looked at.
    enum Place: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case unsaved, saved, reread, unsavedInAChild, savedInAChild, rereadInAChild, savedToTheParent

        var testDescription: String { rawValue }

        /// Whether the shelf has a committed state.
        var isCommitted: Bool { self != .unsaved && self != .unsavedInAChild }
    }

    /// Calls the body with a shelf and its books, in each of the relationships, at a place.
    static func with(
        _ kind: StoreKind, _ place: Place, _ body: (Shelf, [NSManagedObject]) throws -> Void
    ) throws {
        let store = try TestStore(kind, model())
        let root = store.context()
        let child = ContextLine.child(of: root)
        let isMadeInChild = [.unsavedInAChild, .savedInAChild, .savedToTheParent].contains(place)
        let maker = isMadeInChild ? child : root
        var ids: [NSManagedObjectID] = []
        try maker.performAndWait {
            let shelf = Shelf(context: maker)
            let books = ["a", "b", "c", "d"].map { make("Book", maker, ["title": $0]) }
            for relation in Relation.allCases { shelf[keyPath: relation.keyPath] = books }
            maker.processPendingChanges()
            if !place.isCommitted { return try body(shelf, books) }
            try maker.save()
            if place == .saved || place == .savedToTheParent { return try body(shelf, books) }
            if place == .savedInAChild {
                try root.performAndWait { try root.save() }
                return try body(shelf, books)
            }
            ids = ([shelf] + books).map(\.objectID)
            if place == .reread { maker.reset() }
        }
        if ids.isEmpty { return }
        let reader = place == .rereadInAChild ? child : root
        try reader.performAndWait {
            guard let shelf = reader.object(with: ids[0]) as? Shelf else { return }
            try body(shelf, ids.dropFirst().map(reader.object(with:)))
        }
    }
}

/// The titles of books.
func titles(_ books: some Sequence) -> String {
    books.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "-" }.joined()
}
