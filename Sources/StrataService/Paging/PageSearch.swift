import Foundation
import Strata

/// Finds a page of a request, in one state of the store.
///
/// What comes behind a place in an order of several keys is asked for key by key: first the objects with the same
/// values and a greater number, then those that are equal but for the last key, and so on. Each of these is a run of an
/// index with the order, and a page seldom needs more than two.
struct PageSearch<Object: NSManagedObject> {
    let context: NSManagedObjectContext
    let request: NSFetchRequest<Object>
    let order: PageOrder
    let limit: Int
    /// So many equal objects are looked at one by one; the place among more is searched for.
    private let shortRun = 64

    // MARK: Pages

    func firstPage() throws -> StrataPage<Object> {
        let found = try fetch([], order.sorts(from: 0, isForward: true), limit: limit + 1)
        let elements = Array(found.prefix(limit))
        return StrataPage(elements: elements, next: try found.count > limit ? edge(elements.last, true) : nil)
    }

    func page(_ cursor: StrataPageCursor, at place: PageOrder.Place) throws -> StrataPage<Object> {
        let isForward = cursor.isForward
        let found =
            isForward
            ? try behind(place, cursor.isInclusive, limit + 1) : try before(place, cursor.isInclusive, limit + 1)
        let hasMore = found.count > limit
        let elements = Array(isForward ? found.prefix(limit) : found.suffix(limit))
        guard !elements.isEmpty else {
            // What the cursor left out is in the other direction.
            let back = try order.cursor(place, isForward: !isForward, isInclusive: !cursor.isInclusive)
            return StrataPage(elements: [], next: isForward ? nil : back, previous: isForward ? back : nil)
        }
        return StrataPage(
            elements: elements,
            next: try !isForward || hasMore ? edge(elements.last, true) : nil,
            previous: try isForward || hasMore ? edge(elements.first, false) : nil)
    }

    private func edge(_ object: Object?, _ isForward: Bool) throws -> StrataPageCursor? {
        try object.map {
            try order.cursor(PageOrder.Place(id: $0.objectID, values: values(of: $0)), isForward: isForward)
        }
    }

    // MARK: Both directions

    private func behind(_ place: PageOrder.Place, _ isInclusive: Bool, _ wanted: Int) throws -> [Object] {
        var found = try tiesBehind(place, isInclusive, wanted)
        for level in order.keys.indices.reversed() {
            for part in order.beyond(level, place.values, isForward: true) where found.count < wanted {
                found += try fetch(part, order.sorts(from: level, isForward: true), limit: wanted - found.count)
            }
        }
        return found
    }

    private func before(_ place: PageOrder.Place, _ isInclusive: Bool, _ wanted: Int) throws -> [Object] {
        var found = try tiesBefore(place, isInclusive, wanted)
        for level in order.keys.indices.reversed() {
            for part in order.beyond(level, place.values, isForward: false) where found.count < wanted {
                found = try reversed(part, level, limit: wanted - found.count) + found
            }
        }
        return found
    }

    /// The last of some objects, in the request's order.
    private func reversed(_ predicates: [NSPredicate], _ level: Int, limit: Int) throws -> [Object] {
        let found = try fetch(predicates, order.sorts(from: level, isForward: false), limit: limit)
        // Equal objects are in the order of their numbers in this direction, too.
        var runs: [(values: [PageValue], objects: [Object])] = []
        for object in found {
            let values = try values(of: object)
            if let last = runs.last?.values, zip(last, values).allSatisfy({ $0.isTied(with: $1) }) {
                runs[runs.count - 1].objects.append(object)
            } else {
                runs.append((values, [object]))
            }
        }
        // The limit leaves the last objects of the last run out, where the first ones are not wanted.
        if found.count == limit, let last = runs.last {
            let equal = order.equal(last.values)
            let surplus = try count(equal) - last.objects.count
            if surplus > 0 {
                runs[runs.count - 1].objects = try fetch(equal, [], offset: surplus, limit: last.objects.count)
            }
        }
        return runs.reversed().flatMap(\.objects)
    }

    // MARK: Equal objects

    private func tiesBehind(_ place: PageOrder.Place, _ isInclusive: Bool, _ wanted: Int) throws -> [Object] {
        let equal = order.equal(place.values)
        let (offset, count) = try split(equal, place.id, isInclusive ? .orderedAscending : .orderedSame)
        return offset == count ? [] : try fetch(equal, [], offset: offset, limit: wanted)
    }

    private func tiesBefore(_ place: PageOrder.Place, _ isInclusive: Bool, _ wanted: Int) throws -> [Object] {
        let equal = order.equal(place.values)
        let (end, _) = try split(equal, place.id, isInclusive ? .orderedSame : .orderedAscending)
        let start = max(0, end - wanted)
        return end == 0 ? [] : try fetch(equal, [], offset: start, limit: end - start)
    }

    /// How many equal objects come before a place, and how many there are.
    ///
    /// - Parameter greatest: `.orderedSame` when the object at the place counts as before it.
    /// - Complexity: O(log n) requests in the number of equal objects.
    private func split(
        _ equal: [NSPredicate], _ id: NSManagedObjectID, _ greatest: ComparisonResult
    ) throws -> (before: Int, count: Int) {
        func isBefore(_ other: NSManagedObjectID) -> Bool {
            (other.storeOrder(relativeTo: id) ?? .orderedDescending).rawValue <= greatest.rawValue
        }
        let first = try ids(equal, offset: 0, limit: shortRun)
        let leading = first.prefix(while: isBefore).count
        if first.count < shortRun { return (leading, first.count) }
        let count = try count(equal)
        if leading < first.count { return (leading, count) }
        var (low, high) = (first.count, count)
        while low < high {
            let middle = low + (high - low) / 2
            guard let found = try ids(equal, offset: middle, limit: 1).first else {
                high = middle
                continue
            }
            if isBefore(found) { low = middle + 1 } else { high = middle }
        }
        return (low, count)
    }

    // MARK: Requests

    private func fetch(
        _ predicates: [NSPredicate], _ sorts: [NSSortDescriptor], offset: Int = 0, limit: Int
    ) throws -> [Object] {
        let part = NSFetchRequest<Object>(converting: request)
        narrow(part, predicates, sorts, offset, limit)
        return try context.fetch(part)
    }

    private func ids(_ predicates: [NSPredicate], offset: Int, limit: Int) throws -> [NSManagedObjectID] {
        let part = NSFetchRequest<NSManagedObjectID>(converting: request)
        narrow(part, predicates, [], offset, limit)
        part.resultType = .managedObjectIDResultType
        part.relationshipKeyPathsForPrefetching = nil
        return try context.fetch(part)
    }

    private func count(_ predicates: [NSPredicate]) throws -> Int {
        let part = NSFetchRequest<Object>(converting: request)
        narrow(part, predicates, [], 0, 0)
        return try context.count(for: part)
    }

    private func narrow<Result>(
        _ part: NSFetchRequest<Result>, _ predicates: [NSPredicate], _ sorts: [NSSortDescriptor], _ offset: Int,
        _ limit: Int
    ) {
        let all = (request.predicate.map { [$0] } ?? []) + predicates
        part.predicate = all.count > 1 ? CompoundPredicate(type: .and, subpredicates: all) : all.first
        part.sortDescriptors = sorts
        part.fetchOffset = offset
        part.fetchLimit = limit
    }

    // MARK: Values

    /// The sort keys of an object, as the requests saw them.
    private func values(of object: Object) throws -> [PageValue] {
        bringUpToDate(object)
        return try order.keys.map { key in
            var owner: NSManagedObject? = object
            for step in key.steps {
                owner = owner?.primitiveValue(forKey: step) as? NSManagedObject
                owner.map(bringUpToDate)
            }
            guard let value = PageValue(owner.flatMap { Self.value(of: $0, key) }, key.kind) else {
                throw StrataPageError(
                    .unsupportedOrder,
                    "\(order.entity.name ?? "").\(key.path) of \(object.objectID.uriRepresentation().absoluteString)"
                        + " has a value of another type than its attribute.")
            }
            return value
        }
    }

    private static func value(of owner: NSManagedObject, _ key: PageKey) -> Any? {
        // An accessor of the class may give something else than what the store sorts by.
        let value = owner.primitiveValue(forKey: key.end[0])
        if key.counts { return (value as? NSSet)?.count ?? (value as? NSOrderedSet)?.count ?? 0 }
        return key.end.count == 1
            ? value : KeyValueAccess.value(of: value, forKeyPath: key.end.dropFirst().joined(separator: "."))
    }

    /// An object that was in memory before may have older values than its row.
    private func bringUpToDate(_ object: NSManagedObject) {
        if !object.isFault { context.refresh(object, mergeChanges: true) }
        object.willAccessValue(forKey: nil)
    }
}
