import CoreData
import Foundation
import Strata
import StrataSupport
import Testing

/// Texts that mean the same and are written with other scalars ("é" and "e" with a combining accent) are two texts
/// wherever there is an order: it may put others between them.
///
/// A fetched results controller refused to fetch (134060) or reported a section that was not there, and a request for
/// distinct rows left one out.
@Suite struct ExactTextTests {
    private static let composed = "\u{e9}clair"
    private static let decomposed = "e\u{301}clair"

    private static func model(isUnique: Bool = false) -> NSManagedObjectModel {
        let item = GraphModel.entity("Item")
        item.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("n", .integer32AttributeType),
        ]
        if isUnique { item.uniquenessConstraints = [["name"]] }
        return makeModel([item])
    }

    private func fill(_ context: NSManagedObjectContext, _ names: [String]) throws {
        for (number, name) in names.enumerated() { _ = context.insert("Item", ["name": name, "n": number]) }
        try context.save()
    }

    private func controller(_ context: NSManagedObjectContext) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "n", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
    }

    private func scalars(_ texts: [String]) -> [[Unicode.Scalar]] { texts.map { Array($0.unicodeScalars) } }

    @Test(arguments: StoreKind.allCases) func sectionsAreTextsOfTheOrder(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            try fill(context, [Self.decomposed, "zeta", Self.composed])
            let results = controller(context)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            let names = [Self.decomposed, "zeta", Self.composed]
            #expect(scalars(results.sections?.map(\.name) ?? []) == scalars(names))
            // One more of each, one by one, and one that goes over from one to the other.
            for (index, name) in names.enumerated() {
                _ = recorder.takeCalls()
                let item = context.insert("Item", ["name": name, "n": 7])
                context.processPendingChanges()
                #expect(recorder.takeCalls() == ["will", "insert \(name) - \(index).1", "did"])
                context.delete(item)
                context.processPendingChanges()
            }
            let item = try #require(results.fetchedObjects?.first)
            item.setValue(Self.composed, forKey: "name")
            context.processPendingChanges()
            #expect(scalars(results.sections?.map(\.name) ?? []) == scalars(["zeta", Self.composed]))
            #expect(results.sections?.map(\.numberOfObjects) == [1, 2])
            item.setValue(Self.decomposed, forKey: "name")
            _ = recorder.takeCalls()
            context.processPendingChanges()
            #expect(
                recorder.takeCalls() == [
                    "will", "section insert \(Self.decomposed) 0", "move \(Self.decomposed) 1.0 0.0", "did",
                ])
        }
    }

    @Test(arguments: StoreKind.allCases) func snapshotsKnowTheirSectionsByScalars(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        final class Keeper: NSObject, NSFetchedResultsControllerDelegate {
            var snapshot: NSDiffableDataSourceSnapshotReference?
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
            ) {
                self.snapshot = snapshot
            }
        }
        try context.performAndWait {
            try fill(context, [Self.decomposed, "zeta", Self.composed, Self.composed])
            let results = controller(context)
            let keeper = Keeper()
            results.delegate = keeper
            try results.performFetch()
            let snapshot = try #require(keeper.snapshot)
            #expect(snapshot.index(ofSectionIdentifier: Self.decomposed) == 0)
            #expect(snapshot.index(ofSectionIdentifier: Self.composed) == 2)
            #expect(snapshot.numberOfItems(inSection: Self.decomposed) == 1)
            #expect(snapshot.numberOfItems(inSection: Self.composed) == 2)
            #expect(snapshot.itemIdentifiersInSection(withIdentifier: Self.composed).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func rowsGroupsAndIndexesTellThemApart(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            try fill(context, [Self.decomposed, "zeta", Self.composed, Self.decomposed])
            for isCompiled in [true, false] {
                try CompiledExecution.setting.withValue(isCompiled) {
                    let request = NSFetchRequest<NSDictionary>(entityName: "Item")
                    request.resultType = .dictionaryResultType
                    request.propertiesToFetch = ["name"]
                    request.returnsDistinctResults = true
                    let distinct = try context.fetch(request).compactMap { $0["name"] as? String }
                    #expect(scalars(distinct) == scalars([Self.decomposed, "zeta", Self.composed]))
                    request.returnsDistinctResults = false
                    request.propertiesToGroupBy = ["name"]
                    let groups = try context.fetch(request).compactMap { $0["name"] as? String }
                    #expect(scalars(groups) == scalars([Self.decomposed, "zeta", Self.composed]))
                    let count = NSFetchRequest<NSManagedObject>(entityName: "Item")
                    count.predicate = NSPredicate(format: "name == %@", Self.decomposed)
                    #expect(try context.count(for: count) == 2)
                    count.predicate = NSPredicate(format: "name IN %@", [Self.composed])
                    #expect(try context.count(for: count) == 1)
                }
            }
        }
    }

    /// Both may be there where names are unique, and a second of one may not.
    @Test(arguments: StoreKind.allCases) func uniqueTextsAreUniqueByScalars(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model(isUnique: true))
        let context = store.context()
        try context.performAndWait {
            try fill(context, [Self.decomposed, Self.composed])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try fill(context, ["zeta", Self.composed])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let names = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            #expect(scalars(names) == scalars([Self.decomposed, "zeta", Self.composed]))
            let insert = NSBatchInsertRequest(
                entityName: "Item", objects: [["name": Self.decomposed], ["name": "new"]])
            try context.execute(insert)
            #expect(try context.count(for: request) == 4)
        }
    }

    /// With `[c]` or `[d]` texts are compared in one canonical form, so that both are the same text: in a list as in a
    /// comparison, under NOT as without, on every path and by `evaluate(with:)`.
    @Test(arguments: StoreKind.allCases) func foldedTextsAreTheSameInBothForms(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let names = [Self.decomposed, "zeta", Self.composed, "E\u{301}CLAIR", "\u{c9}CLAIR", "eclair"]
        let formats: [(format: String, found: Set<Int>)] = [
            ("name IN[c] %@", [0, 2, 3, 4]), ("NOT (name IN[c] %@)", [1, 5]), ("name IN[cd] %@", [0, 2, 3, 4, 5]),
            ("NOT (name IN[cd] %@)", [1]), ("name IN[d] %@", [0, 2, 5]), ("NOT (name IN[d] %@)", [1, 3, 4]),
            ("name ==[c] %@", [0, 2, 3, 4]), ("NOT (name ==[c] %@)", [1, 5]), ("name !=[c] %@", [1, 5]),
        ]
        try context.performAndWait {
            try fill(context, names)
            _ = context.insert("Item", ["n": 6])
            try context.save()
            for (format, found) in formats {
                for form in [Self.composed, Self.decomposed] {
                    let argument: Any = format.contains("IN") ? [form, "other"] : form
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                    request.predicate = NSPredicate(format: format, argumentArray: [argument])
                    func numbers() throws -> Set<Int> {
                        Set(try context.fetch(request).compactMap { $0.value(forKey: "n") as? Int })
                    }
                    let text = "\(format) \(form.unicodeScalars.count)"
                    #expect(try numbers() == found, "planned, \(text)")
                    #expect(try CompiledExecution.setting.withValue(false) { try numbers() } == found, "\(text)")
                    request.predicate = NSCompoundPredicate(
                        notPredicateWithSubpredicate: try #require(request.predicate))
                    let others = Set(names.indices).subtracting(found)
                    #expect(try numbers() == others, "planned, NOT \(text)")
                    #expect(try CompiledExecution.setting.withValue(false) { try numbers() } == others, "\(text)")
                }
            }
            let all = try context.all("Item", "name != nil")
            for (format, found) in formats {
                let argument: Any = format.contains("IN") ? [Self.composed] : Self.composed
                let predicate = NSPredicate(format: format, argumentArray: [argument])
                let numbers = all.filter { predicate.evaluate(with: $0) }.compactMap { $0.value(forKey: "n") as? Int }
                #expect(Set(numbers) == found, "\(format)")
            }
        }
    }
}
