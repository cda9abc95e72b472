public import Foundation
import StrataSupport

/// Keeps the results of a fetch request in order and in sections, and tells a delegate how they change.
///
/// The controller listens to its context, whatever changes it: edits, saves, merges from other contexts, refreshes,
/// undo. What changed is calculated from the changed objects alone. An object that was changed elsewhere and is not in
/// memory comes in if the request's predicate finds it when the change is merged, unless the request has a limit or an
/// offset.
///
/// Keys of sections and of the order may lead over to-one relationships. When an object on such a path changes,
/// results move, which Core Data does not notice; if they stay in their place, nothing is told. Other things that a
/// result's place or the predicate depends on, such as values that objects compute, are looked at when the result
/// itself changes, as in Core Data.
///
/// After the context has been reset the results have to be fetched again. While there is neither a ``delegate`` nor
/// anybody who iterates over ``changes``, the results stay as fetched. The controller belongs to its context's queue.
///
/// ```swift
/// let request = NSFetchRequest<Book>(entityName: "Book")
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let controller = NSFetchedResultsController(
///     fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
/// try controller.performFetch()
/// for section in controller.sections ?? [] {
///     print("\(section.name): \(section.numberOfObjects)")
/// }
/// ```
open class NSFetchedResultsController<ResultType>: NSObject {
    final let core: FetchedResultsCore
    /// The request. Changes of it count from the next ``performFetch()`` on.
    open var fetchRequest: NSFetchRequest<ResultType> { request }
    private let request: NSFetchRequest<ResultType>
    /// The controller as delegates see it, if its own type is another one.
    private let presented: NSFetchedResultsController<any NSFetchRequestResult>?
    /// The results in their type, and of which state of the core they are.
    private var typed: (version: Int, objects: [ResultType])?

    /// Creates a controller; nothing is fetched before ``performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: what the results are.
    ///   - context: where the objects are, and whose changes are followed.
    ///   - sectionNameKeyPath: what objects of a section have in common: a stored or transient property, or a key path
    ///     through to-one relationships. The first sort descriptor must order objects the same way. Nil for one
    ///     section.
    ///   - name: under which name the division into sections is kept in memory, so that fetching the same again
    ///     need not read every object; nil for none.
    /// - Precondition: the request has sort descriptors, if only an empty array of them.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        guard fetchRequest.sortDescriptors != nil else {
            programmerError(
                "NSFetchedResultsController",
                "a fetched results controller requires a fetch request with sort descriptors",
                "Set the request's sortDescriptors")
        }
        request = fetchRequest
        core = FetchedResultsCore(
            context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name,
            settings: { FetchedResultsSettings(fetchRequest, sectionNameKeyPath: $0, in: context) },
            fetch: { try context.fetched(fetchRequest).map { $0 as AnyObject } })
        let core = core
        presented =
            ResultType.self == (any NSFetchRequestResult).self
            ? nil
            : NSFetchedResultsController<any NSFetchRequestResult>(core, FetchedResultsSettings.erased(fetchRequest))
        super.init()
        core.presented = presented ?? self as? NSFetchedResultsController<any NSFetchRequestResult>
        core.titles = self
    }

    /// Creates a controller of nothing, for a property that gets its controller later: it has a context without stores.
    override public init() {
        request = NSFetchRequest<ResultType>()
        request.sortDescriptors = []
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        core = FetchedResultsCore(
            context, sectionNameKeyPath: nil, cacheName: nil,
            settings: { [request] _ in FetchedResultsSettings(request, in: context) }, fetch: { [] })
        presented = nil
        super.init()
    }

    /// Another view of a controller's core.
    init(_ core: FetchedResultsCore, _ request: NSFetchRequest<ResultType>) {
        self.core = core
        self.request = request
        presented = nil
        super.init()
    }

    /// The context.
    open var managedObjectContext: NSManagedObjectContext { core.context }

    /// The key path that divides the results into sections.
    open var sectionNameKeyPath: String? { core.sectionNameKeyPath }

    /// The name of the section cache.
    open var cacheName: String? { core.cacheName }

    /// Who hears of changes. Not retained. Changes made while there is none are not reported later.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Fetches the results, on the context's queue, from whatever thread it is called.
    ///
    /// - Throws: as `fetch(_:)`; `CocoaError` 134060 when objects of one section are
    ///   not together in the order of the request.
    /// - Complexity: as for fetching; with sections, reads every object unless the cache knows them.
    open func performFetch() throws {
        try core.context.performAndWait { try core.performFetch() }
    }

    /// The results in order; nil before ``performFetch()``.
    open var fetchedObjects: [ResultType]? {
        guard let list = core.list else { return nil }
        if let typed, typed.version == core.version { return typed.objects }
        let objects = list.objects.map { object -> ResultType in
            guard let object = object as? ResultType else {
                programmerError(
                    "NSFetchedResultsController<\(ResultType.self)>", "the request found a \(type(of: object))",
                    "Let ResultType be the class that the model names for the entity")
            }
            return object
        }
        typed = (core.version, objects)
        return objects
    }

    /// The sections; nil before ``performFetch()``. Without section name key path there is one, even without objects.
    open var sections: [any NSFetchedResultsSectionInfo]? { core.list?.sections }

    /// The result at a path of section and row.
    ///
    /// - Precondition: there is one.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard indexPath.count == 2, let sections = core.list?.sections, sections.indices.contains(indexPath.section),
            (0..<sections[indexPath.section].elements.count).contains(indexPath.row), let objects = fetchedObjects
        else {
            programmerError(
                "NSFetchedResultsController.object(at:)", "no object at index path \(indexPath)",
                "Call performFetch() first, and use positions within sections")
        }
        return objects[sections[indexPath.section].start + indexPath.row]
    }

    /// The path of a result; nil if it is none.
    ///
    /// - Complexity: O(n) for the first call after a change, then O(1).
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        core.indexPath(of: object as AnyObject)
    }

    /// The title of a section in an index: what the delegate says, or the first letter of the name, capitalized.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        guard let delegate = core.delegate, let presented = core.presented else {
            return FetchedResultsCore.defaultIndexTitle(sectionName)
        }
        return delegate.controller(presented, sectionIndexTitleForSectionName: sectionName)
    }

    /// The titles of all sections in order, without repetitions.
    open var sectionIndexTitles: [String] { core.indexTitles.map(\.title) }

    /// The section that an entry of ``sectionIndexTitles`` leads to.
    ///
    /// - Precondition: the title stands at that index.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let titles = core.indexTitles
        guard titles.indices.contains(sectionIndex), titles[sectionIndex].title.isExactly(title) else {
            programmerError(
                "NSFetchedResultsController.section(forSectionIndexTitle:at:)",
                "the title is not at index \(sectionIndex) of sectionIndexTitles", "Pass a title with its own index")
        }
        return titles[sectionIndex].section
    }

    /// Forgets a cached division into sections; all of them with nil.
    open class func deleteCache(withName name: String?) {
        SectionCache.delete(name)
    }

    /// The changes from now on, round by round. Each call gives a sequence of its own, which keeps every change until
    /// it is taken, and ends with the controller.
    public final var changes: AsyncStream<FetchedResultsDifference> { core.makeStream() }

    /// Whether both are views of the same controller, whatever their types.
    override open func isEqual(_ object: Any?) -> Bool {
        (object as? any FetchedResultsView)?.core === core
    }

    /// Agrees with equality.
    override open var hash: Int { ObjectIdentifier(core).hashValue }
}

/// Controllers of any result type.
protocol FetchedResultsView: AnyObject {
    var core: FetchedResultsCore { get }
}

extension NSFetchedResultsController: FetchedResultsView, SectionIndexTitles {}

// A delegate compares the controller that it is told of with its own, which is seen in another type.

/// Whether an object is this controller, in whichever type that is seen.
public func === (left: NSFetchedResultsController<any NSFetchRequestResult>?, right: AnyObject?) -> Bool {
    left?.core === (right as? any FetchedResultsView)?.core && (left == nil) == (right == nil)
}

/// Whether an object is this controller, in whichever type that is seen.
public func === (left: AnyObject?, right: NSFetchedResultsController<any NSFetchRequestResult>?) -> Bool {
    right === left
}

/// Whether two references are to one controller.
public func === (
    left: NSFetchedResultsController<any NSFetchRequestResult>?,
    right: NSFetchedResultsController<any NSFetchRequestResult>?
) -> Bool {
    left?.core === right?.core
}

/// Whether an object is not this controller, in whichever type that is seen.
public func !== (left: NSFetchedResultsController<any NSFetchRequestResult>?, right: AnyObject?) -> Bool {
    !(left === right)
}

/// Whether an object is not this controller, in whichever type that is seen.
public func !== (left: AnyObject?, right: NSFetchedResultsController<any NSFetchRequestResult>?) -> Bool {
    !(right === left)
}

/// Whether two references are to different controllers.
public func !== (
    left: NSFetchedResultsController<any NSFetchRequestResult>?,
    right: NSFetchedResultsController<any NSFetchRequestResult>?
) -> Bool {
    !(left === right)
}
