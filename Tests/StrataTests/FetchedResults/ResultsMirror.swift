import CoreData
import Foundation
import Testing

/// Lays what a controller tells over a copy of its sections, as a table view would.
class ResultsMirror: NSObject, NSFetchedResultsControllerDelegate {
    struct Section: Equatable {
        var name: String
        var items: [NSManagedObject]
    }

    var sections: [Section] = []
    /// Of the last changes.
    private(set) var types: [NSFetchedResultsChangeType] = []

    /// Takes what the controller has fetched, in place of what it has been telling.
    func take(_ results: NSFetchedResultsController<some NSManagedObject>) {
        sectionChanges = []
        objectChanges = []
        sections = (results.sections ?? []).map { .init(name: $0.name, items: $0.objects as? [NSManagedObject] ?? []) }
    }

    private var sectionChanges: [(NSFetchedResultsChangeType, Int, String)] = []
    private var objectChanges: [(NSManagedObject, NSFetchedResultsChangeType, IndexPath?, IndexPath?)] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        sectionChanges = []
        objectChanges = []
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        objectChanges.append((object, type, indexPath, newIndexPath))
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        sectionChanges.append((type, sectionIndex, sectionInfo.name))
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        types = objectChanges.map { $0.1 }
        var leaving: Set<IndexPath> = []
        for (object, type, from, _) in objectChanges {
            guard let from else { continue }
            #expect(sections[from.section].items[from.row] === object)
            if type != .update { leaving.insert(from) }
        }
        for path in leaving.sorted(by: >) { sections[path.section].items.remove(at: path.row) }
        for (_, index, name) in sectionChanges.filter({ $0.0 == .delete }).sorted(by: { $0.1 > $1.1 }) {
            #expect(sections[index].name == name && sections[index].items.isEmpty)
            sections.remove(at: index)
        }
        for (_, index, name) in sectionChanges.filter({ $0.0 == .insert }).sorted(by: { $0.1 < $1.1 }) {
            sections.insert(Section(name: name, items: []), at: index)
        }
        let arriving = objectChanges.filter { $0.1 == .insert || $0.1 == .move }
        for (object, _, _, to) in arriving.sorted(by: { ($0.3 ?? []) < ($1.3 ?? []) }) {
            guard let to else { continue }
            sections[to.section].items.insert(object, at: to.row)
        }
        for (object, type, _, to) in objectChanges where type == .update {
            guard let to else { continue }
            #expect(sections[to.section].items[to.row] === object)
        }
    }
}
