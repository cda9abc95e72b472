import Foundation
import StrataLog
import StrataSupport

/// The objects of a fetch, made when they are asked for: what Core Data's array is for a request with
/// ``NSFetchRequest/fetchBatchSize``.
///
/// Until then an object costs 16 bytes. Objects are made a batch at a time, their rows looked up together, and the
/// collection keeps the batch that was used last; others live as long as somebody holds them. Which objects there are
/// and their order stay as they were when the request was run. An object that has been deleted since is there as a
/// fault whose row is gone.
///
/// Belongs to the context's queue, as its objects do.
public struct LazyFetchResults<Element: NSManagedObject>: RandomAccessCollection {
    /// The batch that was used last.
    private final class Page {
        var range = 0..<0
        var objects: [NSManagedObject] = []
    }

    /// How many objects are made together when the request does not say.
    public static var defaultBatchSize: Int { 256 }

    private let context: NSManagedObjectContext
    private let matches: [FetchMatch.Identity]
    /// Those with unsaved changes at the time, which must not be lost.
    private let pending: [Int: NSManagedObject]
    private let page = Page()
    /// How many objects are made together.
    public let batchSize: Int

    init(_ context: NSManagedObjectContext, _ matches: [FetchMatch], batchSize: Int) {
        self.context = context
        self.matches = matches.map { FetchMatch.Identity(ref: $0.ref, storeIndex: $0.storeIndex) }
        self.batchSize = batchSize > 0 ? batchSize : Self.defaultBatchSize
        var pending: [Int: NSManagedObject] = [:]
        for (index, match) in matches.enumerated() { pending[index] = match.object }
        self.pending = pending
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of results. Complexity: O(1).
    public var endIndex: Int { matches.count }

    /// The object at a position; a fault unless it is in memory already.
    ///
    /// - Complexity: O(1); O(``batchSize``) for the first of a batch.
    public subscript(position: Int) -> Element {
        guard matches.indices.contains(position) else {
            programmerError(
                "LazyFetchResults<\(Element.self)>", "index \(position) is out of range of \(matches.count) results",
                "Use indices of the collection")
        }
        if !page.range.contains(position) { turn(to: position / batchSize) }
        guard let object = page.objects[position - page.range.lowerBound] as? Element else {
            programmerError(
                "LazyFetchResults<\(Element.self)>", "the fetch gives objects of another class",
                "Ask for NSManagedObject, or for the class that the model names for the entity")
        }
        return object
    }

    private func turn(to number: Int) {
        let range = (number * batchSize)..<Swift.min((number + 1) * batchSize, matches.count)
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(range.count)
        for index in range {
            let match = matches[index]
            guard let object = pending[index] ?? context.object(match.ref, match.storeIndex) else {
                preconditionFailure("a store does not know the entity of a row that was fetched from it")
            }
            objects.append(object)
        }
        page.range = range
        page.objects = objects
        let found = matches[range].map { FetchMatch(ref: $0.ref, storeIndex: $0.storeIndex) }
        context.faults.expect(results: FaultBatch(found, size: batchSize))
    }
}

extension FetchMatch {
    /// Which object matches, and no more.
    struct Identity {
        var ref: ObjectRef
        var storeIndex: UInt16
    }
}

extension NSManagedObjectContext {
    /// Runs a request for objects whose results are made when they are asked for.
    ///
    /// `fetch(_:)` returns an array, which holds an object for each result. This is the way to go
    /// through results that are too many for that.
    ///
    /// - Throws: as `fetch(_:)`, and for a request whose results are no objects.
    /// - Complexity: as `fetch(_:)`, without making objects.
    public final func fetchLazily<T: NSManagedObject>(_ request: NSFetchRequest<T>) throws -> LazyFetchResults<T> {
        let plan = try plan(of: request)
        let forms: NSFetchRequestResultType = [
            .managedObjectIDResultType, .dictionaryResultType, .countResultType,
        ]
        guard plan.resultType.isDisjoint(with: forms) else {
            throw FetchProblem.error("fetchLazily(_:) gives objects; the request asks for something else.")
        }
        if plan.includesPendingChanges { processChangesBeforeReading() }
        return try limited(request.timeLimit) { control in
            faults.beginFetch()
            let executor = FetchExecutor(self, plan, turn: turn(control, plan))
            let matches = try undisturbed { try executor.orderedMatches(withKeys: false) }
            return LazyFetchResults(self, matches, batchSize: plan.batchSize)
        }
    }
}
