import StrataLog
import StrataSupport
import Synchronization

/// The short way of a plan in one store: which indexes its constants are looked up in, chosen once and kept with the
/// plan. It holds as long as the store is the same and has the same indexes.
///
/// A lead may turn out to be none for some constants, since too many rows have them; then the next one is tried, and
/// after the last one the request goes the long way, which counts and chooses.
package final class DirectPath: Sendable {
    /// What tells the store, without keeping it.
    private let store: BackReference<StoreHandle>
    private let rules: OrderedRules
    let leads: [DirectLead]
    /// Whether one of them leads to the rows of some constants, not only to all in an order.
    let isRestricted: Bool
    /// The entities asked for.
    package let entities: EntityNumbers
    /// The lead that found the rows the last time.
    private let latest = Atomic<Int>(0)
    /// Grows with each request for which no lead was one, so that it is not tried in vain each time.
    private let failures = Atomic<Int>(0)

    private static let leadsMaximum = 3
    private static let failuresMaximum = 32
    private static let failureWeight = 4

    init(_ plan: PreparedFetch, _ direct: DirectCondition, _ handle: StoreHandle, _ snapshot: Snapshot) {
        store = handle.reference
        rules = snapshot.orderedRules
        let map = handle.map
        let entities = plan.family.map { map.numbers[$0.index] }.filter { $0 != 0 }
        self.entities = EntityNumbers(entities)
        leads = DirectLeads(plan, direct, handle, snapshot, entities).all.prefix(Self.leadsMaximum) + []
        isRestricted = leads.contains(where: \.isRestricted)
    }

    /// Whether the path is one for a state of a store.
    package func isFor(_ handle: StoreHandle, _ snapshot: Snapshot) -> Bool {
        store === handle.reference && rules === snapshot.orderedRules
    }

    // MARK: Which lead

    /// Whether to try at all; after several failures only now and then.
    package var isWorthTrying: Bool {
        let count = failures.load(ordering: .relaxed)
        if count <= Self.failuresMaximum { return true }
        failures.store(count - 1, ordering: .relaxed)
        return false
    }

    package var first: Int { latest.load(ordering: .relaxed) }

    func recordSuccess(_ lead: Int) {
        if first != lead { latest.store(lead, ordering: .relaxed) }
        if failures.load(ordering: .relaxed) != 0 { failures.store(0, ordering: .relaxed) }
    }

    package func recordFailure() {
        failures.store(
            min(failures.load(ordering: .relaxed) + Self.failureWeight, Self.failuresMaximum * 2), ordering: .relaxed)
    }
}

/// Finds the leads of a plan in a store.
private struct DirectLeads {
    private let plan: PreparedFetch
    private let direct: DirectCondition
    private let handle: StoreHandle
    private let snapshot: Snapshot
    private let entities: [UInt16]

    init(
        _ plan: PreparedFetch, _ direct: DirectCondition, _ handle: StoreHandle, _ snapshot: Snapshot,
        _ entities: [UInt16]
    ) {
        self.plan = plan
        self.direct = direct
        self.handle = handle
        self.snapshot = snapshot
        self.entities = entities
    }

    /// The best ones first.
    var all: [DirectLead] {
        let root = handle.map.root(plan.shape)
        guard root != 0, !entities.isEmpty else { return [] }
        var leads = direct.terms.indices.compactMap(postings)
        for described in handle.orderedIndexes {
            let definition = described.definition
            guard definition.root == root, definition.filter == nil,
                entities.allSatisfy({ definition.entities.contains($0) }),
                let position = snapshot.orderedIndexes.firstIndex(where: { $0.definition == definition }),
                let lead = lead(definition, position, described.name)
            else { continue }
            leads.append(lead)
        }
        return leads.sorted { $0.rank < $1.rank }
    }

    private func postings(_ number: Int) -> DirectLead? {
        let term = direct.terms[number]
        guard term.kind == .toOne, case .equal = term.relation else { return nil }
        let relationship = plan.shape.relationships[plan.shape.slots[term.slot].relationshipIndex]
        let postings = handle.map.postings(plan.shape, term.slot)
        guard relationship.keepsPostings, postings != 0 else { return nil }
        return DirectLead(
            source: .postings(postings), name: "\(plan.shape.name).\(relationship.name)",
            fixed: [DirectLead.Element(term: number, isDescending: false)],
            rest: direct.tested.filter { $0 != term.conjunct }, hasOthers: true, isOrdered: false,
            isDescending: false, isUnique: false)
    }

    private func term(_ slot: Int, _ isMeant: (DirectCondition.Relation) -> Bool) -> Int? {
        direct.terms.firstIndex { $0.slot == slot && isMeant($0.relation) }
    }

    private func lead(_ definition: OrderedIndexDefinition, _ position: Int, _ name: String) -> DirectLead? {
        var fixed: [DirectLead.Element] = []
        var list: DirectLead.Element?
        var bounds: DirectLead.Bounds?
        for element in definition.elements {
            let number = term(element.slot) { if case .equal = $0 { true } else { false } }
            if let number {
                fixed.append(DirectLead.Element(term: number, isDescending: element.isDescending))
                // What comes behind a reference cannot be asked for: which entity its object has is not in the key.
                if direct.terms[number].kind == .toOne { break } else { continue }
            }
            list = term(element.slot) { if case .list = $0 { true } else { false } }
                .map { DirectLead.Element(term: $0, isDescending: element.isDescending) }
            if list == nil { bounds = self.bounds(element) }
            break
        }
        let isByReference = fixed.last.map { direct.terms[$0.term].kind == .toOne } ?? false
        let slots = Set(fixed.map { direct.terms[$0.term].slot })
        let direction = isByReference || list != nil ? nil : direction(definition.elements, slots)
        let used = (fixed + (list.map { [$0] } ?? [])).map(\.term) + [bounds?.lower, bounds?.upper].compactMap { $0 }
        let said = Set(used.map { direct.terms[$0].conjunct })
        let lead = DirectLead(
            source: .index(position), name: name, fixed: fixed, list: list, bounds: bounds,
            rest: direct.tested.filter { !said.contains($0) },
            hasOthers: definition.entities.count > entities.count, isOrdered: direction != nil,
            isDescending: direction ?? false,
            isUnique: handle.constraints.contains { constraint in
                slots.isSuperset(of: constraint.unique.slots)
                    && entities.allSatisfy { constraint.unique.entities.contains($0) }
            })
        return lead.isRestricted || (lead.isOrdered && !direct.sorts.isEmpty && plan.limit != .max) ? lead : nil
    }

    private func bounds(_ element: OrderedIndexDefinition.Element) -> DirectLead.Bounds? {
        guard element.kind != .reference else { return nil }
        if let both = term(element.slot, { if case .between = $0 { true } else { false } }) {
            return DirectLead.Bounds(lower: both, upper: both, isDescending: element.isDescending)
        }
        let lower = term(element.slot) { if case .lower = $0 { true } else { false } }
        let upper = term(element.slot) { if case .upper = $0 { true } else { false } }
        guard lower != nil || upper != nil else { return nil }
        return DirectLead.Bounds(lower: lower, upper: upper, isDescending: element.isDescending)
    }

    /// Whether the index has the order of the request: nil when it has not, else whether it is against it.
    private func direction(_ elements: [OrderedIndexDefinition.Element], _ fixed: Set<Int>) -> Bool? {
        if direct.sorts.isEmpty {
            // Objects that are alike in all elements come by their keys.
            return elements.allSatisfy { fixed.contains($0.slot) } ? false : nil
        }
        return IndexOrder(sorts: direct.sorts).direction(elements, fixed)
    }
}
