import CoreData
import Foundation
import Testing

/// What observers of an ordered relationship are told: which places changed, and how.
@Suite struct OrderedObservingTests {
    /// Notes what an observer of a relationship of the shelf is told while the body changes it.
    private func seen(
        _ shelf: Shelf, _ relation: Shelf.Relation, _ options: NSKeyValueObservingOptions = [.old, .new],
        _ body: () -> Void
    ) -> [String] {
        var seen: [String] = []
        let observation = shelf.observe(relation.keyPath, options: options) { object, change in
            let kind =
                switch change.kind {
                case .setting: "set"
                case .insertion: "insert"
                case .removal: "remove"
                case .replacement: "replace"
                }
            let indexes = change.indexes.map { "\($0.map(String.init).joined(separator: ","))" } ?? "nil"
            let values = [change.oldValue, change.newValue].map { $0.map { titles($0) } ?? "-" }.joined(separator: ">")
            seen.append("\(change.isPrior ? "prior " : "")\(kind) \(indexes) \(values)")
            if !change.isPrior, let new = change.newValue { #expect(object[keyPath: relation.keyPath] == new) }
        }
        body()
        observation.invalidate()
        return seen
    }

    @Test(arguments: StoreKind.allCases, Shelf.Place.allCases)
    func eachChangeHasItsKindAndPlaces(_ kind: StoreKind, _ place: Shelf.Place) throws {
        for relation in Shelf.Relation.allCases {
            try Shelf.with(kind, place) { shelf, books in
                let context = try #require(shelf.managedObjectContext)
                let x = make("Book", context, ["title": "x"])
                let y = make("Book", context, ["title": "y"])
                let members = shelf.members(relation.slot)
                #expect(seen(shelf, relation) { members.insert(x, at: 1) } == ["insert 1 abcd>axbcd"])
                #expect(seen(shelf, relation) { members.add(y) } == ["insert 5 axbcd>axbcdy"])
                #expect(seen(shelf, relation) { members.remove(x) } == ["remove 1 axbcdy>abcdy"])
                #expect(seen(shelf, relation) { members.remove(at: 4) } == ["remove 4 abcdy>abcd"])
                #expect(seen(shelf, relation) { members.replace(at: 2, with: x) } == ["replace 2 abcd>abxd"])
                #expect(seen(shelf, relation) { members.move(from: 3, to: 1) } == ["replace 1,2,3 abxd>adbx"])
                #expect(seen(shelf, relation) { members.move(from: 1, to: 1) } == [])
                #expect(
                    seen(shelf, relation, [.prior, .old]) { members.insert(y, at: 0) } == [
                        "prior insert 0 adbx>-", "insert 0 adbx>-",
                    ])
                #expect(seen(shelf, relation) { shelf[keyPath: relation.keyPath] = books } == ["set nil yadbx>abcd"])
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Shelf.Place.allCases)
    func mutableOrderedSetsTellTheSame(_ kind: StoreKind, _ place: Shelf.Place) throws {
        for relation in Shelf.Relation.allCases {
            try Shelf.with(kind, place) { shelf, _ in
                let context = try #require(shelf.managedObjectContext)
                let x = make("Book", context, ["title": "x"])
                let y = make("Book", context, ["title": "y"])
                let set = shelf.mutableOrderedSetValue(forKey: relation.rawValue)
                #expect(seen(shelf, relation) { set.insert(x, at: 1) } == ["insert 1 abcd>axbcd"])
                #expect(seen(shelf, relation) { set.removeObject(at: 1) } == ["remove 1 axbcd>abcd"])
                #expect(seen(shelf, relation) { set.insert([x, y], at: [1, 3]) } == ["insert 1,3 abcd>axbycd"])
                #expect(seen(shelf, relation) { set.removeObjects(at: [1, 3]) } == ["remove 1,3 axbycd>abcd"])
                #expect(seen(shelf, relation) { set.replaceObject(at: 0, with: y) } == ["replace 0 abcd>ybcd"])
                #expect(
                    seen(shelf, relation) { set.exchangeObject(at: 0, withObjectAt: 3) } == ["replace 0,3 ybcd>dbcy"])
                #expect(seen(shelf, relation) { set.moveObjects(at: [3], to: 0) } == ["replace 0,1,2,3 dbcy>ydbc"])
                #expect(seen(shelf, relation) { set.add(x) } == ["insert 4 ydbc>ydbcx"])
                #expect(seen(shelf, relation) { set.removeAllObjects() } == ["remove 0,1,2,3,4 ydbcx>"])
                #expect(titles(set) == "" && shelf[keyPath: relation.keyPath].isEmpty)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Shelf.Place.allCases)
    func theOtherEndTellsTheSame(_ kind: StoreKind, _ place: Shelf.Place) throws {
        try Shelf.with(kind, place) { shelf, books in
            let context = try #require(shelf.managedObjectContext)
            #expect(seen(shelf, .own) { books[1].setValue(nil, forKey: "ownedBy") } == ["remove 1 abcd>acd"])
            #expect(seen(shelf, .own) { books[1].setValue(shelf, forKey: "ownedBy") } == ["insert 3 acd>acdb"])
            let shelves = books[2].mutableSetValue(forKey: "sharedBy")
            #expect(seen(shelf, .shared) { shelves.remove(shelf) } == ["remove 2 abcd>abd"])
            #expect(seen(shelf, .shared) { shelves.add(shelf) } == ["insert 3 abd>abdc"])
            #expect(
                seen(shelf, .own) {
                    context.delete(books[0])
                    context.processPendingChanges()
                } == ["remove 0 acdb>cdb"])
        }
    }

    @Test(arguments: StoreKind.allCases) func whatAnObjectAnnouncesItselfIsToldSo(_ kind: StoreKind) throws {
        for relation in Shelf.Relation.allCases {
            try Shelf.with(kind, .saved) { shelf, books in
                let told = seen(shelf, relation) {
                    shelf.willChange(.removal, valuesAt: [1, 2], forKey: relation.rawValue)
                    shelf.members(relation.slot).remove(books[1])
                    shelf.members(relation.slot).remove(books[2])
                    shelf.didChange(.removal, valuesAt: [1, 2], forKey: relation.rawValue)
                }
                #expect(told == ["remove 1,2 abcd>ad"])
            }
        }
    }

    /// A parent takes what a child saves as one change.
    @Test(arguments: StoreKind.allCases, Shelf.Relation.allCases)
    func aParentHearsOfItsChildsOrder(_ kind: StoreKind, _ relation: Shelf.Relation) throws {
        let line = try ContextLine(kind, model: Shelf.model())
        let (shelf, id) = try line.root.performAndWait {
            let shelf = Shelf(context: line.root)
            shelf[keyPath: relation.keyPath] = ["a", "b", "c"].map { make("Book", line.root, ["title": $0]) }
            try line.root.save()
            return (shelf, shelf.objectID)
        }
        let changes = SaveRecorder(.NSManagedObjectContextObjectsDidChange, line.root)
        let told = seen(shelf, relation) {
            try? line.child.performAndWait {
                let own = try #require(line.child.object(with: id) as? Shelf)
                own.members(relation.slot).move(from: 0, to: 2)
                try line.child.save()
            }
        }
        #expect(told == ["replace 0,1,2 abc>bca"])
        line.root.performAndWait {
            #expect(changes.infos.last?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [shelf])
            #expect(shelf.hasPersistentChangedValues && shelf.isUpdated)
        }
    }
}
