import Foundation

/// One round of changes: takes the changed objects, and works out the new results and what to say about them.
///
/// Compares only changed objects with their neighbours: O(k log n) comparisons for k of them, and one pass over the
/// references of the results.
///
/// Whatever the values have become of which nobody tells, what is said leads from the old results to the new ones: the
/// old ones keep their order and their sections, and a section's objects always lie together.
struct FetchedResultsUpdate {
    struct SectionChange {
        var section: FetchedSection
        var index: Int
        var type: NSFetchedResultsChangeType
    }

    struct ObjectChange {
        var object: AnyObject
        var type: NSFetchedResultsChangeType
        var from: IndexPath?
        var to: IndexPath?
        /// Among all results.
        var fromIndex: Int?
        var toIndex: Int?

        var managedObject: NSManagedObject? { object as? NSManagedObject }
    }

    private let old: FetchedResultList
    private(set) var list: FetchedResultList
    private(set) var sections: [SectionChange] = []
    private(set) var objects: [ObjectChange] = []

    private let settings: FetchedResultsSettings
    private let core: FetchedResultsCore
    private var removed: Set<ObjectIdentifier> = []
    private var changed: Set<ObjectIdentifier> = []
    /// Those of `changed` that have not changed themselves: an object has that they are sorted or divided by.
    private var led: Set<ObjectIdentifier> = []
    /// Sections whose order among the others has changed: they go and come again with all their objects.
    private var rebuilt: Set<ExactText> = []
    private var inserted: [NSManagedObject] = []

    init(_ list: FetchedResultList, _ settings: FetchedResultsSettings, _ core: FetchedResultsCore) {
        old = list
        self.list = list
        self.settings = settings
        self.core = core
    }

    var isEmpty: Bool { objects.isEmpty && sections.isEmpty }

    // MARK: Taking changes

    /// An object came, changed or went.
    ///
    /// What counts is what it is now: a delegate that was told before may have undone what is told here.
    mutating func look(at object: NSManagedObject, _ members: inout IdentitySet) {
        guard settings.takes(object.shape) else { return }
        let id = ObjectIdentifier(object)
        if removed.contains(id) || changed.contains(id) { return }
        // A refreshed object is a fault, whose row may be gone.
        if Self.isThere(object), object.isUnread { object.realize() }
        let isResult = Self.isThere(object) && settings.predicate?.evaluate(with: object) ?? true
        if members.contains(object) {
            if isResult { changed.insert(id) } else { remove(object, &members) }
        } else if isResult {
            members.insert(object)
            inserted.append(object)
            // So that an object that is named twice comes in once.
            changed.insert(id)
        }
    }

    /// A result may have changed without this round's telling of it, so that it is told only if it moves or leaves.
    mutating func lookAgain(at object: NSManagedObject, _ members: inout IdentitySet) {
        let id = ObjectIdentifier(object)
        guard members.contains(object), !changed.contains(id) else { return }
        look(at: object, &members)
        if changed.contains(id) { led.insert(id) }
    }

    private static func isThere(_ object: NSManagedObject) -> Bool {
        !object.isMarkedDeleted && !object.flags.contains(.gone) && object.managedObjectContext != nil
    }

    private mutating func remove(_ object: NSManagedObject, _ members: inout IdentitySet) {
        if members.remove(object) { removed.insert(ObjectIdentifier(object)) }
    }

    /// Objects changed that the results may be sorted or divided by. A result whose place depends on one of them is
    /// looked at again.
    ///
    /// - Complexity: O(results), if there are such objects.
    mutating func look(along paths: LeadingPaths, to passed: Set<NSManagedObject>, _ members: inout IdentitySet) {
        if passed.isEmpty { return }
        let passed = Set(passed.map { ObjectIdentifier($0) })
        for case let object as NSManagedObject in old.objects {
            let id = ObjectIdentifier(object)
            if removed.contains(id) || changed.contains(id) || !paths.leads(from: object, toOneOf: passed) { continue }
            look(at: object, &members)
            if changed.contains(id) { led.insert(id) }
        }
    }

    // MARK: Working out

    mutating func calculate() {
        if removed.isEmpty, changed.isEmpty { return }
        let newcomers = Set(inserted.map { ObjectIdentifier($0) })
        var (kept, keptNames, moving) = keep()
        var oldIndexes: [ObjectIdentifier: Int] = [:]
        for (index, object) in old.objects.enumerated() {
            let id = ObjectIdentifier(object)
            if removed.contains(id) || changed.contains(id) { oldIndexes[id] = index }
        }
        let settled = Set(kept.lazy.map { ObjectIdentifier($0) }).intersection(changed)
        let keptSections = Set(keptNames.map(ExactText.init))
        moving += inserted
        place(moving, into: &kept, &keptNames)
        list = FetchedResultList(kept, names: core.sectionNameKeyPath == nil ? nil : keptNames, core)
        findRebuiltSections(keptSections)
        recordChanges(oldIndexes, newcomers, settled)
        compareSections()
    }

    /// Results that keep their order, and those that have to be put in place again.
    private func keep() -> (kept: [AnyObject], names: [String], moving: [NSManagedObject]) {
        let names = core.sectionNameKeyPath == nil ? nil : old.names
        var kept: [AnyObject] = []
        var keptNames: [String] = []
        var moving: [NSManagedObject] = []
        kept.reserveCapacity(old.objects.count + inserted.count)
        for (index, element) in old.objects.enumerated() {
            let id = ObjectIdentifier(element)
            if !removed.isEmpty, removed.contains(id) { continue }
            if !changed.isEmpty, changed.contains(id), let object = element as? NSManagedObject {
                let hasMoved =
                    names.map { !core.sectionName(of: object).isExactly($0[index]) } ?? false
                    || isOutOfOrder(object, at: index, after: kept.last)
                if hasMoved {
                    moving.append(object)
                    continue
                }
            }
            kept.append(element)
            if let names { keptNames.append(names[index]) }
        }
        return (kept, keptNames, moving)
    }

    /// Whether a changed object has to be compared anew with all others.
    private func isOutOfOrder(
        _ object: NSManagedObject, at index: Int, after previous: AnyObject?
    ) -> Bool {
        if let overlay = object.overlay, settings.sortSlots?.contains(where: { overlay.isChangedInEvent($0) }) == true {
            return true
        }
        // What was refreshed, or is sorted by something else than stored values, does not say what is new.
        if let previous = previous as? NSManagedObject, settings.precedes(object, previous) { return true }
        var next = index + 1
        while next < old.objects.count {
            let id = ObjectIdentifier(old.objects[next])
            if !removed.contains(id), !changed.contains(id) { break }
            next += 1
        }
        guard next < old.objects.count, let following = old.objects[next] as? NSManagedObject else { return false }
        return settings.precedes(following, object)
    }

    /// Merges objects into results that are in order, each into the section that it names.
    private func place(
        _ objects: [NSManagedObject], into kept: inout [AnyObject], _ names: inout [String]
    ) {
        guard !objects.isEmpty else { return }
        let sorted = objects.sorted(by: settings.precedes)
        guard core.sectionNameKeyPath != nil else {
            var merged: [AnyObject] = []
            merged.reserveCapacity(kept.count + sorted.count)
            merge(sorted[...], with: kept[...], into: &merged)
            kept = merged
            return
        }
        var arrivals = SectionArrivals(sorted, core)
        let runs = Self.runs(names)
        for run in runs { arrivals.settle(run.name) }
        arrivals.findPlaces(among: runs.count) { run, newcomer in
            guard let first = kept[runs[run].range.lowerBound] as? NSManagedObject else { return true }
            return settings.precedes(first, newcomer)
        }
        var merged: [AnyObject] = []
        merged.reserveCapacity(kept.count + sorted.count)
        var mergedNames: [String] = []
        mergedNames.reserveCapacity(merged.capacity)
        for place in 0...runs.count {
            for section in arrivals.newSections(at: place) {
                merged += section.objects as [AnyObject]
                mergedNames += repeatElement(section.name, count: section.objects.count)
            }
            guard place < runs.count else { break }
            let run = runs[place]
            merge(arrivals.objects(in: run.name)[...], with: kept[run.range], into: &merged)
            mergedNames += repeatElement(run.name, count: merged.count - mergedNames.count)
        }
        kept = merged
        names = mergedNames
    }

    /// Where which section name stands.
    private static func runs(_ names: [String]) -> [(name: String, range: Range<Int>)] {
        var runs: [(name: String, range: Range<Int>)] = []
        var start = 0
        for index in names.indices
        where index + 1 == names.count || !names[index + 1].isExactly(names[index]) {
            runs.append((names[start], start..<index + 1))
            start = index + 1
        }
        return runs
    }

    /// Merges sorted objects with others that are in order.
    private func merge(
        _ objects: ArraySlice<NSManagedObject>, with others: ArraySlice<AnyObject>, into merged: inout [AnyObject]
    ) {
        var start = others.startIndex
        for object in objects {
            var low = start
            var high = others.endIndex
            while low < high {
                let middle = (low + high) / 2
                if let other = others[middle] as? NSManagedObject, settings.precedes(other, object) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            merged += others[start..<low]
            merged.append(object)
            start = low
        }
        merged += others[start...]
    }

    /// - Parameter kept: the sections that still have objects which stayed; these have kept their order.
    private mutating func findRebuiltSections(_ kept: Set<ExactText>) {
        guard core.sectionNameKeyPath != nil else { return }
        let before = old.sections.map { ExactText($0.name) }
        let after = list.sections.map { ExactText($0.name) }
        let stayed = Set(before).intersection(after)
        let stayedAfter = after.filter(stayed.contains)
        if before.filter(stayed.contains) != stayedAfter { rebuilt = Set(stayedAfter).subtracting(kept) }
    }

    /// - Parameter settled: changed objects that stayed where they were among those that did not change.
    private mutating func recordChanges(
        _ oldIndexes: [ObjectIdentifier: Int], _ newcomers: Set<ObjectIdentifier>, _ settled: Set<ObjectIdentifier>
    ) {
        for (id, index) in oldIndexes.sorted(by: { $0.value > $1.value }) where removed.contains(id) {
            objects.append(
                ObjectChange(object: old.objects[index], type: .delete, from: old.path(index), fromIndex: index))
        }
        if changed.isEmpty { return }
        let stayed = StayedObjects(old, list) { id in
            !removed.contains(id) && (!changed.contains(id) || settled.contains(id))
        }
        var moves: [ObjectChange] = []
        var updates: [ObjectChange] = []
        for (index, object) in list.objects.enumerated() {
            let id = ObjectIdentifier(object)
            guard changed.contains(id) else { continue }
            let to = list.path(index)
            guard let oldIndex = oldIndexes[id], !newcomers.contains(id) else {
                objects.append(ObjectChange(object: object, type: .insert, to: to, toIndex: index))
                continue
            }
            let from = old.path(oldIndex)
            let name = list.sections[to.section].name
            let hasMoved =
                !old.sections[from.section].name.isExactly(name) || rebuilt.contains(ExactText(name))
                || (!settled.contains(id) && stayed.hasMoved(id))
            if !hasMoved, led.contains(id) { continue }
            let change = ObjectChange(
                object: object, type: hasMoved ? .move : .update, from: from, to: to, fromIndex: oldIndex,
                toIndex: index)
            if hasMoved { moves.append(change) } else { updates.append(change) }
        }
        objects += moves
        objects += updates
    }

    private mutating func compareSections() {
        let before = old.sections.map { ExactText($0.name) }
        let after = list.sections.map { ExactText($0.name) }
        if before == after { return }
        let stayed = Set(before).intersection(after).subtracting(rebuilt)
        for (index, section) in old.sections.enumerated().reversed() where !stayed.contains(before[index]) {
            // Nothing is left of it.
            let empty = FetchedSection(section.name, [], core)
            sections.append(SectionChange(section: empty, index: index, type: .delete))
        }
        for (index, section) in list.sections.enumerated() where !stayed.contains(after[index]) {
            sections.append(SectionChange(section: section, index: index, type: .insert))
        }
    }

    // MARK: Other forms

    var difference: FetchedResultsDifference {
        FetchedResultsDifference(
            sections: sections.map { .init(name: $0.section.name, index: $0.index, type: $0.type) },
            objects: objects.compactMap { change in
                guard let id = change.managedObject?.objectID else { return nil }
                return .init(objectID: id, type: change.type, indexPath: change.from, newIndexPath: change.to)
            })
    }

    var collectionDifference: CollectionDifference<NSManagedObjectID>? {
        var steps: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in objects {
            guard let id = change.managedObject?.objectID else { continue }
            if let from = change.fromIndex {
                steps.append(.remove(offset: from, element: id, associatedWith: change.toIndex))
            }
            if let to = change.toIndex {
                steps.append(.insert(offset: to, element: id, associatedWith: change.fromIndex))
            }
        }
        return CollectionDifference(steps)
    }
}
