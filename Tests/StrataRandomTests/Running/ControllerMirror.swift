import CoreData

/// A results controller, and a copy of its sections over which what it tells is laid, as a table view would.
final class ControllerMirror: NSObject, NSFetchedResultsControllerDelegate {
    private struct Section {
        var name: String
        var items: [NSManagedObject]
    }

    let context: NSManagedObjectContext
    let question: Question
    private let section: Condition.Path?
    private let controller: NSFetchedResultsController<NSManagedObject>
    private var sections: [Section] = []
    private var sectionChanges: [(type: NSFetchedResultsChangeType, index: Int, name: String)] = []
    private var objectChanges:
        [(object: NSManagedObject, type: NSFetchedResultsChangeType, from: IndexPath?, to: IndexPath?)] = []
    private var problem: String?

    init(
        _ question: Question, _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext,
        section: Condition.Path?
    ) throws {
        self.context = context
        self.question = question
        self.section = section
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section?.text, cacheName: nil)
        super.init()
        try controller.performFetch()
        controller.delegate = self
        sections = contents
    }

    private var contents: [Section] {
        (controller.sections ?? []).map {
            Section(name: $0.name, items: $0.objects as? [NSManagedObject] ?? [])
        }
    }

    /// Compares the copy with the controller, and the controller with what a fetch would find.
    func check(_ answer: [Int]?) throws {
        if let problem { throw Difference("the controller \(problem)") }
        let contents = contents
        guard sections.map(\.name).elementsEqual(contents.map(\.name), by: { $0.utf8.elementsEqual($1.utf8) }) else {
            throw Difference("the controller told of sections \(sections.map(\.name)), not \(contents.map(\.name))")
        }
        for (mine, theirs) in zip(sections, contents) where mine.items != theirs.items {
            throw Difference(
                "the controller told that section \(mine.name) has \(keys(mine.items)), not \(keys(theirs.items))")
        }
        let all = controller.fetchedObjects ?? []
        guard contents.flatMap(\.items) == all else {
            throw Difference("the controller's sections are not its results")
        }
        try checkNames(contents)
        if let answer, keys(all) != answer { throw Difference("the controller has \(keys(all)), not \(answer)") }
    }

    /// Every object is in the section of what its path leads to now.
    private func checkNames(_ contents: [Section]) throws {
        guard let section else { return }
        for part in contents {
            for object in part.items {
                let name = object.value(forKeyPath: section.text).map { "\($0)" } ?? ""
                guard name.utf8.elementsEqual(part.name.utf8) else {
                    throw Difference("the controller has \(keys([object])) in section \(part.name), not \(name)")
                }
            }
        }
    }

    private func keys(_ objects: [NSManagedObject]) -> [Int] {
        objects.map { $0.value(forKey: RandomModel.key.name) as? Int ?? -1 }
    }

    // MARK: What the controller tells

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
        do {
            try takeAway()
            try putIn()
        } catch { problem = problem ?? "told of \(error)" }
    }

    private func takeAway() throws {
        var leaving: Set<IndexPath> = []
        for change in objectChanges {
            guard let from = change.from else { continue }
            guard item(from) === change.object else { throw Difference("another object at \(from)") }
            if change.type != .update { leaving.insert(from) }
        }
        for path in leaving.sorted(by: >) { sections[path.section].items.remove(at: path.row) }
        for change in sectionChanges.filter({ $0.type == .delete }).sorted(by: { $0.index > $1.index }) {
            guard sections.indices.contains(change.index), sections[change.index].items.isEmpty else {
                throw Difference("section \(change.index) that goes and has objects")
            }
            sections.remove(at: change.index)
        }
    }

    private func putIn() throws {
        for change in sectionChanges.filter({ $0.type == .insert }).sorted(by: { $0.index < $1.index }) {
            guard change.index <= sections.count else { throw Difference("a section at \(change.index)") }
            sections.insert(Section(name: change.name, items: []), at: change.index)
        }
        let arriving = objectChanges.filter { $0.type == .insert || $0.type == .move }
        for change in arriving.sorted(by: { ($0.to ?? []) < ($1.to ?? []) }) {
            guard let to = change.to, sections.indices.contains(to.section), to.row <= sections[to.section].items.count
            else { throw Difference("an object that comes to \(change.to?.description ?? "nowhere")") }
            sections[to.section].items.insert(change.object, at: to.row)
        }
        for change in objectChanges where change.type == .update {
            guard let to = change.to ?? change.from, item(to) === change.object else {
                throw Difference("another object that changed")
            }
        }
    }

    private func item(_ path: IndexPath) -> NSManagedObject? {
        guard sections.indices.contains(path.section), sections[path.section].items.indices.contains(path.row)
        else { return nil }
        return sections[path.section].items[path.row]
    }
}
