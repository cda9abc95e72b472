import Foundation
import StrataLog

/// Finds the rows of an entity that satisfy a compiled program, among them those that depend on other objects.
///
/// A program with semi-joins is first brought into one without: where a few rows are known to be enough, their own
/// members are asked, else the members are searched, by the same way, and lead to their owners.
struct RowSearch {
    let handle: StoreHandle
    let snapshot: Snapshot
    let shape: EntityShape
    /// Told what was done; nil for searches inside of others.
    let report: ScanReport?
    /// Of the request; nil where nothing is scanned.
    let turn: ScanTurn?
    let root: UInt16
    /// The numbers of the entities asked for.
    let numbers: [UInt16]
    let entities: EntityNumbers

    /// A program without semi-joins, and where it has to be asked.
    struct Prepared {
        var predicate: CompiledPredicate
        /// All objects that can satisfy it, by key; nil for those of the entity. Of one entity asked for, and not
        /// deleted.
        var candidates: [ObjectRef]?
        /// The program before keys in it became candidates; nil when they came from elsewhere.
        var whole: CompiledPredicate?
        /// The index that gave the candidates.
        var choice: IndexChoice?
        /// What gave them, if no index did.
        var path = FetchExplanation.Path.semiJoin
        /// The objects that the candidates refer to, if that is what makes them candidates.
        var targets: Targets?
        /// Whether conditions on members have been answered.
        var hasJoined = false
        /// Whether the plan itself said where to look, and the report knows.
        var isDirect = false
    }

    /// Some objects to which all candidates refer by one slot, by key.
    struct Targets {
        let slot: Int
        let refs: [ObjectRef]
    }

    /// - Parameter family: the entities asked for.
    init(
        _ handle: StoreHandle, _ snapshot: Snapshot, _ shape: EntityShape, family: [EntityShape],
        report: ScanReport? = nil, turn: ScanTurn?
    ) {
        self.handle = handle
        self.snapshot = snapshot
        self.shape = shape
        self.report = report
        self.turn = turn
        root = handle.map.root(shape)
        numbers = family.map { handle.map.numbers[$0.index] }.filter { $0 != 0 }
        entities = EntityNumbers(numbers)
    }

    var rowCount: Int { numbers.reduce(0) { $0 + snapshot.count(entity: $1) } }

    // MARK: Preparing

    /// Fewer candidates than one row in this many are looked at one by one; more are found by a scan.
    private static let rowsPerCandidate = 8

    /// - Parameters:
    ///   - among: the only objects that are asked, if they are known.
    ///   - predicate: what the program was compiled of, for partial indexes.
    func prepare(
        _ compiled: CompiledPredicate, among: [ObjectRef]? = nil, _ predicate: NSPredicate? = nil
    ) throws -> Prepared {
        guard compiled.program.hasJoins else { return Prepared(predicate: compiled, candidates: among) }
        var program = compiled.program
        var prepared = Prepared(predicate: compiled, candidates: among)
        let followedMaximum = followedMaximum(program)
        if among == nil, followedMaximum > 0,
            let found = try indexed(compiled, predicate, followedMaximum)
        {
            prepared.candidates = found.refs
            prepared.choice = found.choice
            program = found.choice.residual.program
        }
        program = try answer(program, among: prepared.candidates) { !$0.isToMany }
        if program.hasToManyJoins {
            prepared.hasJoined = true
            let maximum = rowCount / Self.rowsPerCandidate
            if prepared.candidates == nil, SemiJoinUse.current != .members,
                let found = try indexed(CompiledPredicate(program: program, rest: compiled.rest), predicate, maximum)
            {
                prepared.candidates = found.refs
                prepared.choice = found.choice
                program = found.choice.residual.program
            }
            if prepared.candidates == nil, SemiJoinUse.current != .members,
                let found = try referring(by: program, targetsMaximum(program), referrersMaximum(maximum))
            {
                prepared.candidates = found.refs
                program = found.rest
            }
            if prepared.candidates == nil, SemiJoinUse.current == .owners {
                let keys = try mappingErrors { () throws(StoreError) in try IntegerSet(keysOf: root, snapshot) }
                prepared.candidates = try refs(keys)
            }
            program = try answerConditions(of: program, &prepared.candidates)
        } else if prepared.candidates == nil, let found = try referring(by: program.simplified) {
            prepared.whole = CompiledPredicate(program: program.simplified, rest: compiled.rest)
            prepared.candidates = found.refs
            prepared.targets = found.targets
            prepared.path = .postings
            program = found.rest
        }
        program = program.simplified
        prepared.predicate = CompiledPredicate(program: program, rest: compiled.rest)
        if prepared.candidates == nil {
            prepared.whole = prepared.predicate
            try narrow(&prepared, to: rowCount / Self.rowsPerCandidate)
        }
        return prepared
    }

    /// Makes candidates of the keys that a part of the program allows, if those are few. What is left of the program is
    /// asked of them.
    func narrow(_ prepared: inout Prepared, to maximum: Int) throws {
        var nodes: [CompiledPredicate.Node]
        switch prepared.predicate.program {
        case .constant(false):
            prepared.candidates = []
            return
        case .all(let parts): nodes = parts
        case let node: nodes = [node]
        }
        guard
            let index = nodes.firstIndex(where: { $0.keys.map { !$0.isNegated && $0.set.count <= maximum } ?? false }),
            let keys = nodes[index].keys
        else { return }
        nodes.remove(at: index)
        let rest: CompiledPredicate.Node = nodes.isEmpty ? .constant(true) : nodes.count == 1 ? nodes[0] : .all(nodes)
        prepared.candidates = try refs(keys.set)
        prepared.predicate = CompiledPredicate(program: rest, rest: prepared.predicate.rest)
    }

    /// Makes candidates of all keys that satisfy the program, if it is about nothing else.
    func narrowToKeys(_ prepared: inout Prepared) throws {
        guard shape.root.subshapes.isEmpty, let keys = prepared.predicate.program.keys else { return }
        var set = keys.set
        if keys.isNegated {
            let all = try mappingErrors { () throws(StoreError) in try IntegerSet(keysOf: root, snapshot) }
            set = IntegerSet(all.values.filter { !keys.set.contains($0) })
        }
        prepared.candidates = try refs(set)
        prepared.predicate = CompiledPredicate(program: .constant(true), rest: prepared.predicate.rest)
    }

    /// Those of some objects that there are, of the entities asked for.
    func existing(_ refs: [ObjectRef]) throws -> [ObjectRef] {
        try mappingErrors { () throws(StoreError) in
            var found: [ObjectRef] = []
            for ref in refs {
                guard let row = try snapshot.row(ref), entities.contains(row.ref.entity) else { continue }
                found.append(row.ref)
            }
            return found
        }
    }

    /// Asking where so many objects lie takes longer than finding out which there are.
    private static let keysWorthAll = 16_384
    /// The referrers of so many targets are looked up whatever else that would spare.
    private static let targetsMinimum = 64
    /// What it takes to find the referrers of a target, and to ask those for their members, in nanoseconds.
    private static let targetCost = 1_000.0
    /// To find the referrers of a target takes as long as the scan of so many rows that asks who refers to one of some.
    private static let rowsPerTarget = 256
    /// To look at a referrer takes as long as that scan of so many rows.
    private static let rowsPerReferrer = 32
    /// What it takes to look at a row of an index, and at what it refers to, in nanoseconds.
    private static let followingCost = 1_500.0

    /// The referrers of so many targets are quicker to find, and to ask for their members, than all members.
    private func targetsMaximum(_ program: CompiledPredicate.Node) -> Int {
        max(Self.targetsMinimum, Int(joinCost(program) / Self.targetCost))
    }

    /// How many referrers there are for so many of the entities asked for: those of the other entities of the hierarchy
    /// are among them.
    private func referrersMaximum(_ maximum: Int) -> Int {
        let all = handle.rowCount(of: shape.root.family, in: snapshot)
        return rowCount > 0 ? maximum * all / rowCount : maximum
    }

    /// Whether so many rows are quicker to ask for what they refer to, and for their members, than all that there is.
    func isWorthAsking(_ program: CompiledPredicate.Node, _ count: Int) -> Bool {
        joinCost(program) > Double(count) * Self.followingCost
    }

    /// How many rows of an index are quicker to look at, with what they refer to, than everything that may be referred
    /// to.
    private func followedMaximum(_ program: CompiledPredicate.Node) -> Int {
        let cost = toOneCost(program)
        switch SemiJoinUse.current {
        case .members: return 0
        case .owners: return cost > 0 ? .max : 0
        case .automatic: return Int(cost / Self.followingCost)
        }
    }

    /// What finding the targets of to-one relationships takes that satisfy what the program asks of them, roughly in
    /// nanoseconds.
    private func toOneCost(_ node: CompiledPredicate.Node) -> Double {
        switch node {
        case .constant, .test, .computed, .interpreted: 0
        case .join(let join): join.isToMany ? 0 : SemiJoinSearch(self, join).cost
        case .not(let node): toOneCost(node)
        case .all(let nodes), .any(let nodes): nodes.reduce(0) { $0 + toOneCost($1) }
        }
    }

    private typealias Referring = (refs: [ObjectRef], targets: Targets, rest: CompiledPredicate.Node)

    /// The same where the other way is a scan for the referrers.
    private func referring(by program: CompiledPredicate.Node) throws -> Referring? {
        switch SemiJoinUse.current {
        case .members: nil
        case .owners: try referring(by: program, .max, .max)
        case .automatic: try referring(by: program, rowCount / Self.rowsPerTarget, rowCount / Self.rowsPerReferrer)
        }
    }

    /// The objects that refer to one of a few others, as the program demands, by key, and what else it demands of them;
    /// nil when it does not, or they are many.
    private func referring(
        by program: CompiledPredicate.Node, _ targetsMaximum: Int, _ maximum: Int
    ) throws -> Referring? {
        var nodes = [program]
        if case .all(let parts) = program { nodes = parts }
        for (index, node) in nodes.enumerated() {
            guard case .test(let test) = node, case .reference(let keys, false) = test.condition,
                keys.count <= targetsMaximum
            else { continue }
            let relationship = shape.relationships[shape.slots[test.slot].relationshipIndex]
            guard relationship.keepsPostings else { continue }
            let destination: EntityShape = relationship.destination
            let targets = try RowSearch(
                handle, snapshot, destination, family: destination.family, turn: nil
            ).refs(keys)
            let found = try mappingErrors { () throws(StoreError) in
                try referrers(handle.map.postings(shape, test.slot), targets, maximum)
            }
            if let found {
                nodes.remove(at: index)
                return (found, Targets(slot: test.slot, refs: targets), .all(nodes))
            }
        }
        return nil
    }

    private func referrers(
        _ postings: UInt16, _ targets: [ObjectRef], _ maximum: Int
    ) throws(StoreError) -> [ObjectRef]? {
        var refs: [ObjectRef] = []
        var count = 0
        for target in targets {
            try snapshot.forEachReferrer(postings: postings, to: target) { ref in
                count += 1
                if entities.contains(ref.entity) { refs.append(ref) }
                return count <= maximum
            }
            if count > maximum { return nil }
        }
        return refs.sorted { $0.key < $1.key }
    }

    /// The objects of the entities that have these keys.
    private func refs(_ keys: IntegerSet) throws -> [ObjectRef] {
        try mappingErrors { () throws(StoreError) in
            var refs: [ObjectRef] = []
            refs.reserveCapacity(keys.count)
            // Rows of one entity alone need not be looked at to know their entity.
            let isOnly = shape.root.subshapes.isEmpty
            let existing =
                isOnly && keys.count >= Self.keysWorthAll ? try IntegerSet(keysOf: root, snapshot) : nil
            for key in keys.values {
                let ref = ObjectRef(entity: root, key: UInt64(key))
                if let existing {
                    if existing.contains(key) { refs.append(ref) }
                } else if isOnly {
                    if try !snapshot.locate(ref).isAbsent { refs.append(ref) }
                } else if let row = try snapshot.row(ref), entities.contains(row.ref.entity) {
                    refs.append(row.ref)
                }
            }
            return refs
        }
    }

    /// What an index allows, if it is likely to be quicker than a scan.
    private func indexed(
        _ compiled: CompiledPredicate, _ predicate: NSPredicate?, _ maximum: Int = .max
    ) throws -> (choice: IndexChoice, refs: [ObjectRef])? {
        guard !snapshot.orderedIndexes.isEmpty else { return nil }
        let planner = IndexPlanner(handle, snapshot, { predicate }, compiled, root: root, entities: numbers)
        return try mappingErrors { () throws(StoreError) in
            try planner.usingIndex(.rows) { choice throws(StoreError) in
                choice.estimated <= maximum ? (choice, try choice.refs(of: entities, turn?.control)) : nil
            }
        }
    }

    func mappingErrors<Result>(_ body: () throws(StoreError) -> Result) throws -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    // MARK: Answering

    /// Answers the joins of a program part by part. What one part allows narrows what the next is asked for.
    private func answerConditions(
        of program: CompiledPredicate.Node, _ candidates: inout [ObjectRef]?
    ) throws -> CompiledPredicate.Node {
        guard case .all(let nodes) = program else { return try answer(program, among: candidates) { _ in true } }
        var answered: [CompiledPredicate.Node] = []
        var known = candidates
        let planned = nodes.map { (node: $0, cost: $0.hasJoins ? joinCost($0) : -1) }.sorted { $0.cost < $1.cost }
        for (node, _) in planned {
            let node = try answer(node, among: known) { _ in true }.simplified
            answered.append(node)
            guard known == nil, SemiJoinUse.current != .members else { continue }
            var prepared = Prepared(predicate: CompiledPredicate(program: node, rest: nil), candidates: nil)
            try narrow(&prepared, to: rowCount / Self.rowsPerCandidate)
            known = prepared.candidates
        }
        return .all(answered)
    }

    /// The program with tests in the place of joins.
    ///
    /// - Parameters:
    ///   - among: the only objects that are asked; of others the tests say nothing.
    ///   - isMeant: which joins.
    func answer(
        _ program: CompiledPredicate.Node, among: [ObjectRef]?, _ isMeant: (SemiJoin) -> Bool
    ) throws -> CompiledPredicate.Node {
        switch program {
        case .constant, .test, .computed, .interpreted: return program
        case .join(let join):
            guard isMeant(join) else { return program }
            return try SemiJoinSearch(self, join).answer(among: among)
        case .not(let node): return .not(try answer(node, among: among, isMeant))
        // What has been answered is a cheap test, and comes before the others.
        case .all(let nodes):
            return .all(try nodes.map { try answer($0, among: among, isMeant) }.sorted { $0.cost < $1.cost })
        case .any(let nodes):
            return .any(try nodes.map { try answer($0, among: among, isMeant) }.sorted { $0.cost < $1.cost })
        }
    }

    private func joinCost(_ node: CompiledPredicate.Node) -> Double {
        switch node {
        case .constant, .test, .computed, .interpreted: 0
        case .join(let join): SemiJoinSearch(self, join).cost
        case .not(let node): joinCost(node)
        case .all(let nodes), .any(let nodes): nodes.reduce(0) { $0 + joinCost($1) }
        }
    }

    // MARK: Scanning

    /// A scan of the rows that satisfy a program, by the best way to them.
    ///
    /// - Parameters:
    ///   - slots: what is read besides the columns of the program.
    ///   - among: the only objects that are asked, if they are known.
    func scan(
        _ program: CompiledPredicate.Node, reading slots: [Int], among: [ObjectRef]? = nil
    ) throws -> CompiledScan {
        var prepared = try prepare(CompiledPredicate(program: program, rest: nil), among: among)
        if prepared.candidates == nil { try narrow(&prepared, to: rowCount / Self.rowsPerCandidate) }
        let scan = CompiledScan(
            handle, snapshot, prepared.predicate, root: root, shape, entities: entities,
            reading: slots.map { .slot($0, shape.slots[$0].kind) })
        if let candidates = prepared.candidates { return scan.over(candidates, prepared.predicate) }
        guard let found = try indexed(prepared.predicate, nil) else { return scan }
        return scan.over(found.refs, found.choice.residual)
    }
}
