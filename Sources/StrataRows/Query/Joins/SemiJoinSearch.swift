import Foundation
import StrataLog

/// Answers one semi-join of an entity.
struct SemiJoinSearch {
    private let owners: RowSearch
    private let join: SemiJoin
    private let members: RowSearch
    private var handle: StoreHandle { owners.handle }
    private var snapshot: Snapshot { owners.snapshot }
    private var relationship: RelationshipShape { join.relationship }

    init(_ owners: RowSearch, _ join: SemiJoin) {
        self.owners = owners
        self.join = join
        let destination: EntityShape = join.relationship.destination
        members = RowSearch(
            owners.handle, owners.snapshot, destination, family: destination.family,
            report: join.isToMany ? nil : owners.report, turn: owners.turn)
    }

    /// What finding all owners takes, roughly in nanoseconds.
    var cost: Double {
        let perMember = 1 + Double(min(join.condition.cost, 200)) / 2
        return Double(members.rowCount) * perMember + Double(linkCount) * 4 + 5_000
    }

    /// Rows that link owners to members; 0 where members refer to their owners themselves.
    private var linkCount: Int {
        guard case .link(let link, _) = relationship.storage else { return 0 }
        return snapshot.count(entity: handle.map.linkNumber(link))
    }

    /// A test of the owners, or of a to-one relationship's reference.
    ///
    /// - Parameter among: the only owners that are asked, if they are known.
    func answer(among: [ObjectRef]?) throws -> CompiledPredicate.Node {
        guard join.isToMany else { return try reference(among: among) }
        if case .constant(false) = join.condition, case .some = join.test { return .constant(false) }
        if case .count(let test) = join.test, let among, let node = try counted(among, test) { return node }
        let known = try among.flatMap { try links(from: $0) }
        switch join.test {
        case .some:
            let keys = try ownerKeys(known)
            return recorded(.keys(IntegerSet(keys)), known)
        case .count(let test):
            let isZero = test.holds(0)
            let keys = OwnerCounts.owners(try ownerKeys(known)) { test.holds($0) != isZero }
            return recorded(.keys(IntegerSet(keys), isNegated: isZero), known)
        case .aggregate(let function, let slot, let test):
            let kind = members.shape.slots[slot].kind
            let isZero = test.holds(MemberAggregate().result(function, kind))
            var keys: [Int64] = []
            let aggregates = try aggregates(function, slot, kind, known)
            for (owner, aggregate) in zip(aggregates.keys, aggregates.values)
            where test.holds(aggregate.result(function, kind)) != isZero {
                keys.append(owner)
            }
            return recorded(.keys(IntegerSet(keys), isNegated: isZero), known)
        case .owner(let test): return recorded(.keys(IntegerSet(try owners(test, known, among))), known)
        }
    }

    /// The owners whose members satisfy a test of both.
    private func owners(_ test: MemberComparison, _ links: KnownLinks?, _ among: [ObjectRef]?) throws -> [Int64] {
        let aggregates = try aggregates(test.function, test.slot, test.kind, links)
        var keys: [Int64] = []
        try run(owners.scan(.constant(true), reading: [test.ownerSlot], among: among)) { rowGroup throws(StoreError) in
            let columns = try Self.columns(rowGroup, test.ownerSlot)
            var keys: [Int64] = []
            rowGroup.forEach { part, row, key in
                if let members = aggregates[Int64(key)], test.holds(members, columns[part], row) {
                    keys.append(Int64(key))
                }
            }
            return keys
        } take: {
            keys += $0
        }
        return keys
    }

    /// A test of some owners for the number of all their members, which keep their owner themselves: they are counted
    /// without being looked at. Nil for other joins, and when it is quicker to go through all members.
    private func counted(_ refs: [ObjectRef], _ test: ValueComparison) throws -> CompiledPredicate.Node? {
        guard case .constant(true) = join.condition, case .inverse = relationship.storage,
            SemiJoinUse.current == .owners
                || SemiJoinUse.current == .automatic && Double(refs.count) * Self.countCost <= cost
        else { return nil }
        let list = postings(ofOwners: true)[0]
        let isZero = test.holds(0)
        let keys = try owners.mappingErrors { () throws(StoreError) in
            var keys: [Int64] = []
            for ref in refs where test.holds(try snapshot.referrerCount(postings: list, to: ref)) != isZero {
                keys.append(Int64(ref.key))
            }
            return keys
        }
        owners.report?.record(join: relationship.name, fromOwners: true)
        return .keys(IntegerSet(keys), isNegated: isZero)
    }

    private func recorded(_ node: CompiledPredicate.Node, _ known: KnownLinks?) -> CompiledPredicate.Node {
        owners.report?.record(join: relationship.name, fromOwners: known != nil)
        return node
    }

    // MARK: To-one

    /// The targets are searched first. Without a target the condition is that on null; then those are looked for that
    /// do not satisfy it.
    private func reference(among: [ObjectRef]?) throws -> CompiledPredicate.Node {
        let isNegated = join.condition.nullResult
        var keys: [Int64] = []
        let targets = try among.flatMap { try referred(by: $0) }
        try members.scan(isNegated ? .not(join.condition) : join.condition, reading: [], among: targets).run(
            .whole, owners.turn
        ) { rowGroup in
            var keys: [Int64] = []
            rowGroup.forEach { _, _, key in keys.append(Int64(key)) }
            return keys
        } take: {
            keys += $0
            return true
        }
        if keys.isEmpty, !isNegated { return .constant(false) }
        let test = ColumnPredicate.Condition.reference(IntegerSet(keys), isNegated: isNegated)
        return .test(ColumnPredicate(slot: relationship.slot, kind: .toOne, condition: test))
    }

    /// What some owners refer to, by key; nil when it is quicker to ask all that there is.
    private func referred(by refs: [ObjectRef]) throws -> [ObjectRef]? {
        switch SemiJoinUse.current {
        case .members: return nil
        case .owners: break
        case .automatic: if Double(refs.count) * Self.lookupCost > cost { return nil }
        }
        var targets: Set<ObjectRef> = []
        let slot = relationship.slot
        try run(owners.scan(.constant(true), reading: [slot], among: refs)) { rowGroup throws(StoreError) in
            let columns = try Self.columns(rowGroup, slot)
            var targets: [ObjectRef] = []
            rowGroup.forEach { part, row, _ in
                let target = columns[part].reference(row)
                if !target.isNull { targets.append(target) }
            }
            return targets
        } take: {
            targets.formUnion($0)
        }
        return try members.existing(targets.sorted { $0.key < $1.key })
    }

    // MARK: From the owners

    /// What the lookup of an owner, and of one of its members, takes compared with a row of a scan.
    private static let lookupCost = 500.0

    /// What it takes to count the members of an owner.
    private static let countCost = 150.0

    /// What a pair takes that an index has.
    private static let pairCost = 50.0

    /// What links some owners to their members. Nil when it is quicker to go through all.
    private func links(from refs: [ObjectRef]) throws -> KnownLinks? {
        switch SemiJoinUse.current {
        case .members: return nil
        case .owners: break
        case .automatic: if Double(refs.count) * Self.lookupCost > cost { return nil }
        }
        let isForced = SemiJoinUse.current == .owners
        if case .link(let link, let side) = relationship.storage {
            let pairs = try pairs(of: refs, link, from: side, maximum: isForced ? .max : Int(cost / Self.pairCost))
            if let pairs { return .pairs(pairs.map { (owner: Int64($0.key), member: $1) }) }
        }
        let lists = postings(ofOwners: true)
        let maximum = isForced ? Int.max : Int(cost / Self.lookupCost)
        return try owners.mappingErrors { () throws(StoreError) in
            try Self.referrers(lists, refs, snapshot, maximum: maximum).map { .rows($0) }
        }
    }

    /// What links lead to from some objects at one of their sides, by the index of the links; nil when there is none,
    /// or when there are more than wanted.
    private func pairs(
        of refs: [ObjectRef], _ link: LinkShape, from side: Int, maximum: Int
    ) throws -> [(ObjectRef, ObjectRef)]? {
        let reader = RelationshipReader(handle: handle, snapshot: snapshot)
        let sides = relationship.isSymmetric ? [side, 1 - side] : [side]
        guard maximum > 0, let indexes = reader.pairs(link, sides) else { return nil }
        return try owners.mappingErrors { () throws(StoreError) in
            try handle.rebuildingIfDamaged(indexes) { () throws(StoreError) in
                var pairs: [(ObjectRef, ObjectRef)] = []
                for ref in refs where pairs.count <= maximum {
                    for index in indexes {
                        let isSecond = index !== indexes[0]
                        try index.forEachPair(of: ref) { other, _ in
                            if !isSecond || other != ref { pairs.append((ref, other)) }
                            return pairs.count <= maximum
                        }
                    }
                }
                return pairs.count <= maximum ? pairs : nil
            }
        }
    }

    /// The postings that lead from one end to the links.
    private func postings(ofOwners isOwners: Bool) -> [UInt16] {
        switch relationship.storage {
        case .slot: return []
        case .inverse(let slot): return isOwners ? [handle.map.postings(relationship.destination, slot)] : []
        case .link(let link, let side):
            let sides = relationship.isSymmetric ? [0, 1] : [isOwners ? side : 1 - side]
            return sides.map { handle.map.linkPostings(link, $0) }
        }
    }

    /// What refers to some objects, by key and once; nil when there is more than wanted.
    private static func referrers(
        _ lists: [UInt16], _ targets: [ObjectRef], _ snapshot: Snapshot, maximum: Int
    ) throws(StoreError) -> [ObjectRef]? {
        var total = 0
        for target in targets {
            for list in lists { total += try snapshot.referrerCount(postings: list, to: target) }
            if total > maximum { return nil }
        }
        var refs: [ObjectRef] = []
        refs.reserveCapacity(total)
        for target in targets {
            for list in lists { refs += try snapshot.referrers(postings: list, to: target) }
        }
        refs.sort { $0.key < $1.key }
        // The link of an object of a symmetric relationship is found from both ends.
        if lists.count > 1 {
            var last: ObjectRef?
            refs.removeAll { ref in
                defer { last = ref }
                return ref == last
            }
        }
        return refs
    }

    // MARK: Pairs

    /// The owner of each member that satisfies the condition, as often as it has such members.
    ///
    /// - Parameter links: what links the only owners that are asked to their members.
    private func ownerKeys(_ links: KnownLinks?) throws -> [Int64] {
        switch relationship.storage {
        case .slot: return []
        case .inverse(let slot):
            let scan = try members.scan(join.condition, reading: [slot], among: links?.rows)
            return try collect(scan) { rowGroup throws(StoreError) in
                var keys: [Int64] = []
                keys.reserveCapacity(rowGroup.count)
                for part in rowGroup.parts.indices {
                    let column = try rowGroup.parts[part].column(slot)
                    rowGroup.forEachRow(inPart: part) { row in
                        let owner = column.reference(row)
                        if !owner.isNull { keys.append(Int64(owner.key)) }
                    }
                }
                return keys
            }
        case .link(let link, let side):
            let own = try links.map { try memberRefs(of: $0, link, side) }
            let found = try matchingMembers(own)
            let (set, isSymmetric) = (found.keys, relationship.isSymmetric)
            if let pairs = links?.pairs {
                return pairs.compactMap { set.contains(Int64($0.member.key)) ? $0.owner : nil }
            }
            var rows = links?.rows
            if links == nil, let refs = found.refs {
                if let keys = try pairedOwners(of: refs, link, side) { return keys }
                rows = try fewLinks(to: refs)
            }
            return try collect(linkScan(link, rows)) { rowGroup throws(StoreError) in
                var keys: [Int64] = []
                for part in rowGroup.parts.indices {
                    let (owners, members) = (
                        try rowGroup.parts[part].column(side), try rowGroup.parts[part].column(1 - side)
                    )
                    rowGroup.forEachRow(inPart: part) { row in
                        let (owner, member) = (Int64(owners.reference(row).key), Int64(members.reference(row).key))
                        if set.contains(member) { keys.append(owner) }
                        if isSymmetric, owner != member, set.contains(owner) { keys.append(member) }
                    }
                }
                return keys
            }
        }
    }

    /// The owners of some members by the index of their links, once for each link; nil when there is none, or when
    /// going through all links is quicker: a pair takes as long as some ten rows of a scan.
    private func pairedOwners(of refs: [ObjectRef], _ link: LinkShape, _ side: Int) throws -> [Int64]? {
        // So many members have their share of the links.
        guard SemiJoinUse.current == .automatic, refs.count <= members.rowCount / 16 else { return nil }
        return try pairs(of: refs, link, from: 1 - side, maximum: linkCount / 8)?.map { Int64($1.key) }
    }

    /// The links of some members, if those are so few that going through all takes longer.
    private func fewLinks(to refs: [ObjectRef]) throws -> [ObjectRef]? {
        guard SemiJoinUse.current == .automatic else { return nil }
        let maximum = linkCount / 50
        guard refs.count <= maximum else { return nil }
        return try owners.mappingErrors { () throws(StoreError) in
            try Self.referrers(postings(ofOwners: false), refs, snapshot, maximum: maximum)
        }
    }

    /// The members at the ends of some links.
    private func memberRefs(of links: KnownLinks, _ link: LinkShape, _ side: Int) throws -> [ObjectRef] {
        var refs: Set<ObjectRef> = []
        let isSymmetric = relationship.isSymmetric
        switch links {
        case .pairs(let pairs): for pair in pairs { refs.insert(pair.member) }
        case .rows(let rows):
            try run(linkScan(link, rows)) { rowGroup throws(StoreError) in
                let ends = try Self.ends(rowGroup, side)
                var refs: [ObjectRef] = []
                rowGroup.forEach { part, row, _ in
                    refs.append(ends[part].member.reference(row))
                    if isSymmetric { refs.append(ends[part].owner.reference(row)) }
                }
                return refs
            } take: {
                refs.formUnion($0)
            }
        }
        return try owners.mappingErrors { () throws(StoreError) in
            // An end may have been deleted without its links.
            var found: [ObjectRef] = []
            for ref in refs where try !snapshot.locate(ref).isAbsent { found.append(ref) }
            found.sort { $0.key < $1.key }
            return found
        }
    }

    /// The members that satisfy the condition; as objects, too, unless they are all that exist.
    private func matchingMembers(_ among: [ObjectRef]?) throws -> (keys: IntegerSet, refs: [ObjectRef]?) {
        if case .constant(true) = join.condition {
            if let among { return (IntegerSet(among.map { Int64($0.key) }), among) }
            let (root, snapshot) = (members.root, snapshot)
            return (try owners.mappingErrors { () throws(StoreError) in try IntegerSet(keysOf: root, snapshot) }, nil)
        }
        var refs: [ObjectRef] = []
        try run(members.scan(join.condition, reading: [], among: among)) { rowGroup in
            var refs: [ObjectRef] = []
            rowGroup.forEachRef { _, _, ref in refs.append(ref) }
            return refs
        } take: {
            refs += $0
        }
        return (IntegerSet(refs.map { Int64($0.key) }), refs)
    }

    // MARK: Aggregates

    /// How many members each owner has, by the owners' keys; nil where these lie far from each other.
    func memberCounts() throws -> [UInt32]? {
        let keys = try ownerKeys(nil)
        let greatest = Int(keys.max() ?? 0)
        guard greatest / Self.keysPerOwnerMaximum <= max(owners.rowCount, Self.keysPerOwnerMaximum * 1_024) else {
            return nil
        }
        var counts = [UInt32](repeating: 0, count: greatest + 1)
        for key in keys { counts[Int(key)] += 1 }
        return counts
    }

    private static let keysPerOwnerMaximum = 16

    /// What an operator makes of each owner's members; owners without members are left out.
    func memberAggregates(_ function: RowMembers.Function) throws -> KeyTable<MemberAggregate> {
        if case .aggregate(let function, let slot, let kind) = function {
            return try aggregates(function, slot, kind, nil)
        }
        var aggregates = KeyTable<MemberAggregate>(rows: owners.rowCount)
        for owner in try ownerKeys(nil) { aggregates.update(owner, from: MemberAggregate()) { $0.addMember() } }
        return aggregates
    }

    /// What an operator makes of each owner's members; owners without members are left out.
    private func aggregates(
        _ function: MemberAggregate.Function, _ slot: Int, _ kind: SlotKind, _ links: KnownLinks?
    ) throws -> KeyTable<MemberAggregate> {
        var aggregates = KeyTable<MemberAggregate>(rows: owners.rowCount)
        func add(_ owner: Int64, _ value: MemberAggregate.Value) {
            aggregates.update(owner, from: MemberAggregate()) { $0.add(value, function) }
        }
        switch relationship.storage {
        case .slot: break
        case .inverse(let inverse):
            // As the interpreter reads them: entity by entity, by key.
            let numbered = members.shape.family.sorted { handle.map.numbers[$0.index] < handle.map.numbers[$1.index] }
            for shape in numbered where handle.map.holds(shape) {
                let search = RowSearch(
                    handle, snapshot, shape, family: [shape], turn: owners.turn)
                let number = handle.map.numbers[shape.index]
                let own = links?.rows?.filter { $0.entity == number }
                let scan = try search.scan(.constant(true), reading: [inverse, slot], among: own)
                try run(scan) { rowGroup throws(StoreError) in
                    let (references, values) = (try Self.columns(rowGroup, inverse), try Self.columns(rowGroup, slot))
                    var pairs: [(Int64, MemberAggregate.Value)] = []
                    pairs.reserveCapacity(rowGroup.count)
                    rowGroup.forEach { part, row, _ in
                        let owner = references[part].reference(row)
                        if owner.isNull { return }
                        pairs.append((Int64(owner.key), MemberAggregate.Value(values[part], row, kind)))
                    }
                    return pairs
                } take: {
                    for (owner, value) in $0 { add(owner, value) }
                }
            }
        case .link(let link, let side):
            let own = try links.map { try memberRefs(of: $0, link, side) }
            let values = try memberValues(slot, kind, own)
            let isSymmetric = relationship.isSymmetric
            if let pairs = links?.pairs {
                for pair in pairs {
                    if let value = values[Int64(pair.member.key)] { add(pair.owner, value) }
                }
                return aggregates
            }
            try run(linkScan(link, links?.rows)) { rowGroup throws(StoreError) in
                let ends = try Self.ends(rowGroup, side)
                var pairs: [(Int64, Int64)] = []
                pairs.reserveCapacity(rowGroup.count)
                rowGroup.forEach { part, row, _ in
                    let (owner, member) = (ends[part].owner.reference(row).key, ends[part].member.reference(row).key)
                    pairs.append((Int64(owner), Int64(member)))
                    if isSymmetric, owner != member { pairs.append((Int64(member), Int64(owner))) }
                }
                return pairs
            } take: {
                for (owner, member) in $0 {
                    if let value = values[member] { add(owner, value) }
                }
            }
        }
        return aggregates
    }

    private func memberValues(
        _ slot: Int, _ kind: SlotKind, _ among: [ObjectRef]?
    ) throws -> KeyTable<MemberAggregate.Value> {
        var values = KeyTable<MemberAggregate.Value>(rows: members.rowCount)
        try run(members.scan(.constant(true), reading: [slot], among: among)) { rowGroup throws(StoreError) in
            let columns = try Self.columns(rowGroup, slot)
            var found: [(Int64, MemberAggregate.Value)] = []
            found.reserveCapacity(rowGroup.count)
            rowGroup.forEach { part, row, key in
                found.append((Int64(key), MemberAggregate.Value(columns[part], row, kind)))
            }
            return found
        } take: {
            for (key, value) in $0 { values.update(key, from: value) { _ in } }
        }
        return values
    }

    // MARK: Scanning

    private func linkScan(_ link: LinkShape, _ candidates: [ObjectRef]?) -> CompiledScan {
        let number = handle.map.linkNumber(link)
        let all = CompiledPredicate.everyRow
        let scan = CompiledScan(
            handle, snapshot, all, root: number, nil, entities: EntityNumbers([number]),
            reading: [.slot(0, .toOne), .slot(1, .toOne)])
        return candidates.map { scan.over($0, all) } ?? scan
    }

    private func collect(
        _ scan: CompiledScan, _ make: (ScannedRowGroup) throws(StoreError) -> [Int64]
    ) throws -> [Int64] {
        var keys: [Int64] = []
        try run(scan, make) { keys += $0 }
        return keys
    }

    private func run<Part>(
        _ scan: CompiledScan, _ make: (ScannedRowGroup) throws(StoreError) -> Part, take: (Part) -> Void
    ) throws {
        try scan.run(.whole, owners.turn) {
            try make($0)
        } take: {
            take($0)
            return true
        }
    }

    private static func columns(_ rowGroup: ScannedRowGroup, _ slot: Int) throws(StoreError) -> [ColumnView] {
        try rowGroup.parts.map { part throws(StoreError) in try part.column(slot) }
    }

    /// The columns of link rows: on a side the owners, on the other the members.
    private static func ends(
        _ rowGroup: ScannedRowGroup, _ side: Int
    ) throws(StoreError) -> [(owner: ColumnView, member: ColumnView)] {
        try rowGroup.parts.map { part throws(StoreError) in (try part.column(side), try part.column(1 - side)) }
    }
}
