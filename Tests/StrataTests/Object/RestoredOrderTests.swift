import CoreData
import Foundation
import Testing

/// The committed order of an ordered relationship, and changes that lead back to it.
@Suite struct RestoredOrderTests {
    private static let places = Shelf.Place.allCases.filter(\.isCommitted)

    private static func isUnchanged(_ shelf: Shelf) -> Bool {
        !shelf.hasPersistentChangedValues && shelf.changedValues().isEmpty
    }

    @Test(arguments: StoreKind.allCases, places)
    func anOrderThatIsBroughtBackIsNoChange(_ kind: StoreKind, _ place: Shelf.Place) throws {
        for relation in Shelf.Relation.allCases {
            try Shelf.with(kind, place) { shelf, books in
                let members = shelf.members(relation.slot)
                members.move(from: 0, to: 2)
                #expect(!Self.isUnchanged(shelf))
                #expect(shelf.changedValues()[relation.rawValue].map { titles(($0 as? NSOrderedSet) ?? []) } == "bcad")
                members.move(from: 2, to: 0)
                #expect(Self.isUnchanged(shelf), "moved")
                members.remove(books[1])
                #expect(!Self.isUnchanged(shelf))
                members.insert(books[1], at: 1)
                #expect(Self.isUnchanged(shelf), "removed")
                members.remove(books[3])
                members.add(books[3])
                #expect(Self.isUnchanged(shelf), "removed from the end")
                let new = make("Book", try #require(shelf.managedObjectContext), ["title": "x"])
                members.insert(new, at: 2)
                #expect(!Self.isUnchanged(shelf))
                members.remove(new)
                #expect(Self.isUnchanged(shelf), "inserted")
                members.set(books.reversed())
                members.set(books)
                #expect(Self.isUnchanged(shelf), "set")
                let set = shelf.mutableOrderedSetValue(forKey: relation.rawValue)
                set.exchangeObject(at: 0, withObjectAt: 3)
                #expect(!Self.isUnchanged(shelf))
                set.exchangeObject(at: 0, withObjectAt: 3)
                #expect(Self.isUnchanged(shelf), "exchanged")
                members.add(books[0])
                #expect(Self.isUnchanged(shelf), "there already")
                for book in books { #expect(!book.hasPersistentChangedValues && book.changedValues().isEmpty) }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, places)
    func theCommittedOrderIsKnown(_ kind: StoreKind, _ place: Shelf.Place) throws {
        for relation in Shelf.Relation.allCases {
            try Shelf.with(kind, place) { shelf, books in
                func committed() -> String {
                    let values = shelf.committedValues(forKeys: [relation.rawValue])
                    return titles((values[relation.rawValue] as? NSOrderedSet) ?? [])
                }
                #expect(committed() == "abcd")
                let members = shelf.members(relation.slot)
                members.set([books[3], books[1], books[2], books[0]])
                #expect(committed() == "abcd")
                members.remove(books[0])
                members.insert(make("Book", try #require(shelf.managedObjectContext), ["title": "x"]), at: 0)
                #expect(committed() == "abcd")
                #expect(titles(members.array) == "xdbc")
                let context = try #require(shelf.managedObjectContext)
                try context.save()
                #expect(committed() == "xdbc" && Self.isUnchanged(shelf))
                members.move(from: 0, to: 3)
                #expect(committed() == "xdbc" && !Self.isUnchanged(shelf))
                context.rollback()
                #expect(committed() == "xdbc" && titles(members.array) == "xdbc")
            }
        }
    }
}
