import Foundation

/// One section of a fetched results controller, as it was when it was asked for.
public protocol NSFetchedResultsSectionInfo {
    /// The value that its objects have under the section name key path, as text; "" for nil.
    var name: String { get }
    /// Its title in an index; see ``NSFetchedResultsController/sectionIndexTitle(forSectionName:)``.
    var indexTitle: String? { get }
    /// How many objects it has.
    var numberOfObjects: Int { get }
    /// Its objects, in order.
    var objects: [Any]? { get }
}

/// A run of results with the same section name.
final class FetchedSection: NSFetchedResultsSectionInfo {
    let name: String
    /// The index of the first of its results among all.
    let start: Int
    let elements: ArraySlice<AnyObject>
    private weak var core: FetchedResultsCore?

    init(_ name: String, _ elements: ArraySlice<AnyObject>, _ core: FetchedResultsCore) {
        self.name = name
        self.elements = elements
        self.core = core
        start = elements.startIndex
    }

    var numberOfObjects: Int { elements.count }
    var objects: [Any]? { Array(elements) }
    var indexTitle: String? { core == nil ? FetchedResultsCore.defaultIndexTitle(name) : core?.indexTitle(name) }
}
