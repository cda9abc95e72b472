import Foundation
import StrataLog

/// What a store has to note so that its rows are read by a newer model: a new schema version, and no row.
struct LightMigration {
    /// The newer model as the store keeps it.
    let stored: StoredModel
    /// To be registered.
    let schema: Schema
    /// Why rows have to be written anew instead; empty if they need not.
    let obstacles: [String]
}

/// Works out how rows that were written with one model are read by another.
///
/// Numbers of entities, key spaces and postings stay what they are, so that IDs, references, relationships and the
/// history do. What cannot be said by moving slots about becomes an obstacle: then the objects are copied.
struct LightMigrationPlanner {
    let log: LogStore
    let old: StoredModel
    let match: ModelMatch
    let shapes: ModelShapes
    let held: [EntityShape]
    var obstacles: [String] = []
    /// By the names of the newer model.
    private var numbers: [String: UInt16] = [:]
    var postings: [String: UInt16] = [:]
    private var links: [String: LinkSource] = [:]
    private var nextNumber: UInt32
    private var nextPostings: UInt32
    let snapshot: Snapshot

    /// The hidden entity that has become another one.
    struct LinkSource: Hashable {
        var name: String
        /// Whether its sides have changed places.
        var isFlipped: Bool
    }

    init(_ log: LogStore, _ old: StoredModel, _ match: ModelMatch, _ shapes: ModelShapes, holding names: Set<String>) {
        self.log = log
        self.old = old
        self.match = match
        self.shapes = shapes
        held = shapes.shapes.filter { names.contains($0.name) }.sorted { $0.name < $1.name }
        nextNumber = UInt32(max(old.lastNumber ?? 0, old.entities.map(\.number).max() ?? 0)) + 1
        nextPostings = UInt32(max(old.lastPostings ?? 0, old.postings.values.max() ?? 0)) + 1
        snapshot = log.snapshot
    }

    /// - Throws: `CocoaError` 134110 when rows lack values that the newer model demands, 134111 when they have values
    ///   that must be unique from now on; 134080 when numbers run out.
    mutating func plan() throws -> LightMigration {
        for shape in held {
            if let number = source(shape).flatMap({ old.entity($0.name ?? "")?.number }) {
                numbers[shape.name] = number
            } else {
                numbers[shape.name] = try newNumber()
            }
        }
        let roots = planRoots()
        checkRemovedEntities()
        try planPostings()
        try planLinks()
        checkInverses()
        try checkConstraints()
        var entities = held.map { shape in
            StoredModel.Entity(
                name: shape.name, number: numbers[shape.name] ?? 0, root: roots[shape.rootIndex] ?? 0,
                slots: shape.slots.prefix(shape.persistentSlotCount).map(\.name), versionHash: shape.entity.versionHash)
        }
        for link in heldLinks {
            let name = StoredModel.linkName(link)
            let number = try links[link.name].flatMap { old.entity("link \($0.name)")?.number } ?? newNumber()
            entities.append(
                .init(name: name, number: number, root: number, slots: ["0", "1", "position 0", "position 1"]))
        }
        var stored = StoredModel(
            entities: entities, postings: postings, lastNumber: UInt16(nextNumber - 1),
            lastPostings: UInt16(nextPostings - 1), since: snapshot.sequence)
        stored.versionIdentifiers = StoredModel.identifiers(shapes)
        var schema = try stored.schema(shapes)
        schema.isMigration = true
        for index in schema.entities.indices { try lift(&schema.entities[index]) }
        return LightMigration(stored: stored, schema: schema, obstacles: obstacles)
    }

    // MARK: Numbers

    private mutating func newNumber() throws -> UInt16 {
        guard let number = UInt16(exactly: nextNumber) else { throw StoredModel.exhausted }
        nextNumber += 1
        return number
    }

    mutating func newPostings() throws -> UInt16 {
        guard let number = UInt16(exactly: nextPostings) else { throw StoredModel.exhausted }
        nextPostings += 1
        return number
    }

    func source(_ shape: EntityShape) -> NSEntityDescription? { match.source(of: shape.entity) }

    /// How many objects an entity of the older model has, without those of its subentities.
    func count(_ entity: NSEntityDescription) -> Int {
        old.entity(entity.name ?? "").map { snapshot.count(entity: $0.number) } ?? 0
    }

    var heldLinks: [LinkShape] {
        shapes.links.filter { link in
            held.contains { shape in
                shape.relationships.contains {
                    if case .link(let other, _) = $0.storage { return other === link }
                    return false
                }
            }
        }.sorted { $0.name < $1.name }
    }

    mutating func setLink(_ link: LinkShape, _ source: LinkSource?) { links[link.name] = source }

    func linkSource(_ link: LinkShape) -> LinkSource? { links[link.name] }

    /// The key space of each hierarchy: that of the entities it is made of.
    private mutating func planRoots() -> [Int: UInt16] {
        var roots: [Int: UInt16] = [:]
        var taken: Set<UInt16> = []
        for (index, family) in Dictionary(grouping: held, by: \.rootIndex).sorted(by: { $0.key < $1.key }) {
            let spaces = Set(family.compactMap { source($0).flatMap { old.entity($0.name ?? "")?.root } })
            let name = shapes.shapes[index].name
            if spaces.count > 1 { obstacles.append("\(name) unites hierarchies whose objects are numbered apart") }
            let root = spaces.min() ?? numbers[name] ?? 0
            if !taken.insert(root).inserted { obstacles.append("\(name) leaves a hierarchy that is still there") }
            roots[index] = root
        }
        return roots
    }

    // MARK: Slots

    private mutating func lift(_ layout: inout EntityLayout) throws {
        guard let before = log.schema.entity(layout.id) else { return }
        if let shape = shapes.byName[layout.name] {
            guard let entity = source(shape), let names = old.entity(entity.name ?? "")?.slots else { return }
            try lift(&layout, shape, names, before)
        } else if let link = heldLinks.first(where: { StoredModel.linkName($0) == layout.name }) {
            let order = linkSource(link)?.isFlipped == true ? [1, 0, 3, 2] : [0, 1, 2, 3]
            for slot in layout.slots.indices { layout.slots[slot].lift = SlotLift(source: order[slot]) }
        }
    }

    private mutating func lift(
        _ layout: inout EntityLayout, _ shape: EntityShape, _ names: [String], _ before: EntityLayout
    ) throws {
        let sources = SlotSources(match, shape)
        for slot in layout.slots.indices {
            let source = sources.name(shape.slots[slot].name).flatMap { names.firstIndex(of: $0) }
            // A transient attribute that is stored from now on may have had another type.
            let known = source.flatMap { before.slots[$0].kind == layout.slots[slot].kind ? $0 : nil }
            if source != nil, known == nil, sources.attribute(shape.slots[slot].name)?.isTransient == false,
                self.source(shape).map({ count($0) > 0 }) == true
            {
                obstacles.append("\(shape.name).\(shape.slots[slot].name) has another type of number")
                continue
            }
            let fill = try MigrationFill(shape, slot).bytes(
                replacing: known, of: sources.attribute(shape.slots[slot].name), in: log, entity: layout.id)
            checkDerivation(shape, shape.slots[slot], sources)
            if fill?.count ?? 0 > SlotLift.fillMaximumByteCount {
                obstacles.append("\(shape.name).\(shape.slots[slot].name) has a long default value")
                continue
            }
            layout.slots[slot].lift = SlotLift(source: known, fill: fill)
        }
    }

    /// Derived values that are new have to be computed.
    private mutating func checkDerivation(_ shape: EntityShape, _ info: SlotInfo, _ sources: SlotSources) {
        guard let derived = info.attribute as? NSDerivedAttributeDescription,
            source(shape).map({ count($0) > 0 }) == true
        else { return }
        let before = sources.attribute(info.name) as? NSDerivedAttributeDescription
        guard before?.derivationExpression != derived.derivationExpression else { return }
        obstacles.append("\(shape.name).\(info.name) is derived in another way")
    }
}
