import StrataTestKit

/// Draws a program: each operation such that it makes sense to the oracle after those before it.
struct ProgramDrawing {
    var random: SeededGenerator
    private(set) var oracle: Oracle
    let profile: Profile
    private(set) var operations: [Operation] = []
    var nextKey = 1
    /// By what the last results controller sorts and divides, and the entity of its results.
    private(set) var followed: (paths: [Condition.Path], entity: String) = ([], "")
    /// How likely each kind of operation is in this program; some are left out.
    private let weights: [Int]
    private var program: Program

    static func program(_ seed: UInt64, _ profile: Profile, _ place: StorePlace) -> Program {
        var drawing = ProgramDrawing(seed, profile, place)
        return drawing.draw()
    }

    private init(_ seed: UInt64, _ profile: Profile, _ place: StorePlace) {
        random = SeededGenerator(seed: seed)
        self.profile = profile
        var model = RandomModel(&random)
        while model.entities.allSatisfy(\.isAbstract) { model = RandomModel(&random) }
        var random = random
        weights = Self.usual.map { random.chance(0.15) ? 0 : $0.number(profile) }
        program = Program(
            model: model, operations: [], holdsObjects: random.chance(0.5),
            hasTwoCoordinators: random.chance(0.3) && place == .log, hasUndo: random.chance(0.3) && profile == .graph,
            hasFollower: random.chance(0.4) && place == .log, canReopen: place == .log)
        oracle = Oracle(program)
        self.random = random
    }

    /// Of one kind of operation, how many of each profile's usual ones there are.
    private struct Weight {
        var choice: Choice
        var graph: Int
        var rows: Int
        var bulk: Int

        init(_ choice: Choice, graph: Int, rows: Int, bulk: Int) {
            (self.choice, self.graph, self.rows, self.bulk) = (choice, graph, rows, bulk)
        }

        func number(_ profile: Profile) -> Int {
            switch profile {
            case .graph: graph
            case .rows: rows
            case .bulk: bulk
            }
        }
    }

    private enum Choice {
        case insert, set, link, delete, endEvent, save, rollback, refresh, refreshAll, forget, compare, ask, askStore
        case follow, handOver, beginChild, endChild, reopen, compact, update, erase, diverge, pin, askPinned, history
        case undo, redo, migrate, setTransient, follower, disturb
    }

    private static let usual = [
        Weight(.insert, graph: 14, rows: 4, bulk: 1), Weight(.set, graph: 16, rows: 8, bulk: 2),
        Weight(.link, graph: 26, rows: 16, bulk: 3), Weight(.delete, graph: 8, rows: 6, bulk: 2),
        Weight(.endEvent, graph: 8, rows: 4, bulk: 1), Weight(.save, graph: 6, rows: 4, bulk: 2),
        Weight(.rollback, graph: 1, rows: 1, bulk: 1), Weight(.refresh, graph: 3, rows: 2, bulk: 1),
        Weight(.refreshAll, graph: 2, rows: 2, bulk: 1), Weight(.forget, graph: 2, rows: 2, bulk: 1),
        Weight(.compare, graph: 6, rows: 1, bulk: 0), Weight(.ask, graph: 14, rows: 16, bulk: 12),
        Weight(.askStore, graph: 4, rows: 8, bulk: 12), Weight(.follow, graph: 4, rows: 3, bulk: 1),
        Weight(.handOver, graph: 3, rows: 2, bulk: 1), Weight(.beginChild, graph: 1, rows: 1, bulk: 0),
        Weight(.endChild, graph: 3, rows: 3, bulk: 0), Weight(.reopen, graph: 1, rows: 1, bulk: 1),
        Weight(.compact, graph: 1, rows: 1, bulk: 1), Weight(.update, graph: 1, rows: 3, bulk: 3),
        Weight(.erase, graph: 1, rows: 1, bulk: 1), Weight(.diverge, graph: 2, rows: 1, bulk: 1),
        Weight(.pin, graph: 1, rows: 1, bulk: 1), Weight(.askPinned, graph: 1, rows: 1, bulk: 2),
        Weight(.history, graph: 1, rows: 1, bulk: 1), Weight(.undo, graph: 3, rows: 0, bulk: 0),
        Weight(.redo, graph: 2, rows: 0, bulk: 0), Weight(.migrate, graph: 1, rows: 1, bulk: 1),
        Weight(.setTransient, graph: 3, rows: 1, bulk: 0), Weight(.follower, graph: 3, rows: 3, bulk: 1),
        Weight(.disturb, graph: 14, rows: 8, bulk: 0),
    ]

    private mutating func draw() -> Program {
        var attempts = 0
        // Where many kinds of operations are left out, hardly one of the others may be possible.
        while operations.count < profile.operations, !oracle.isLost, attempts < 50 * profile.operations {
            attempts += 1
            if profile != .graph, operations.isEmpty || operations.count == 4 { add(.bulk(bulk())) }
            if oracle.isDenied {
                add(.save)
                continue
            }
            if let operation = next() { add(operation) }
        }
        add(.save)
        add(.compare)
        add(.compareStore)
        program.operations = operations
        return program
    }

    private mutating func add(_ operation: Operation) {
        guard oracle.apply(operation) != nil else { return }
        operations.append(operation)
    }

    private mutating func next() -> Operation? {
        var place = random.below(max(weights.reduce(0, +), 1))
        var choice = 0
        while choice < weights.count - 1, place >= weights[choice] {
            place -= weights[choice]
            choice += 1
        }
        switch Self.usual[choice].choice {
        case .insert: return insert()
        case .set: return change()
        case .link: return link()
        case .delete: return pick().map { .delete($0) }
        case .endEvent: return .endEvent
        case .save: return .save
        case .rollback: return .rollback
        case .refresh: return pick().map { .refresh($0, merging: random.chance(0.7)) }
        case .refreshAll: return .refreshAll
        case .forget: return .forget
        case .compare: return .compare
        case .ask:
            // Of what is stored for dictionaries, which show nothing else.
            let question: Question =
                random.chance(0.3) ? .ofStored(oracle.stored, &random) : Question(drawnFor: oracle.view, &random)
            return .ask(question, inNewContext: false)
        case .askStore: return .ask(.ofStored(oracle.stored, &random), inNewContext: true)
        case .follow:
            let (question, section) = Question.followed(drawnFor: oracle.view, &random)
            followed = ([section].compactMap(\.self) + (question.orders ?? []).map(\.path), question.entity)
            return .follow(question, section: section)
        case .handOver: return .handOver
        case .beginChild: return .beginChild
        case .endChild: return .endChild(saving: random.chance(0.7))
        case .reopen: return .reopen
        case .compact: return .compact
        case .update: return update()
        case .erase: return erase()
        case .diverge: return diverge()
        case .pin: return .pin
        case .askPinned: return oracle.pinned.map { .askPinned(.ofStored($0, &random)) }
        case .history: return .checkHistory
        case .undo: return .undo
        case .redo: return .redo
        case .migrate: return migrate()
        case .setTransient: return setTransient()
        case .follower:
            guard program.hasFollower else { return nil }
            return random.chance(0.3)
                ? .compareFollower : .askFollower(.ofStored(oracle.stored, &random))
        case .disturb: return disturb()
        }
    }

    mutating func pick(_ entity: String? = nil) -> Int? {
        let live = entity.map { oracle.view.keys($0) } ?? oracle.view.things.keys.sorted()
        guard let key = live.randomElement(using: &random), let thing = oracle.view.things[key] else { return nil }
        return entity == nil && oracle.model.entities[thing.entity].isPermanent ? nil : key
    }
}
