/// What a program should lead to: the worlds of the store and of the context in use.
///
/// It is a value, and the only thing besides random numbers that the drawing of a program looks at.
struct Oracle {
    enum Outcome {
        case done
        /// A save that the deny rule refuses; the program rolls back.
        case refused
        /// A save that meets a conflict; the program rolls back.
        case conflict
    }

    private(set) var model: RandomModel
    private let canReopen: Bool
    private let hasFollower: Bool
    private let keepsTransients: Bool
    /// What the store holds.
    private(set) var stored: World
    /// What the context in use shows.
    private(set) var view: World
    /// The same of its parent, while a child is in use.
    private(set) var below: World?
    /// What was deleted in this event.
    private(set) var doomed: [Int] = []
    /// Whether nothing is unsaved in the context in use.
    private(set) var isClean = true
    private(set) var isParentClean = true
    /// The deny rule will refuse the next save.
    private(set) var isDenied = false
    /// The program did what has no defined outcome; the rest of it is left out.
    private(set) var isLost = false

    /// What a pinned context shows.
    private(set) var pinned: World?
    /// What the store held when its history was last looked at.
    private(set) var recorded: World
    /// The states that undoing leads through, without them if the program cannot.
    private var states: [World]?
    private var position = 0
    private var hasEdits = false
    /// What is known of attributes that are not stored.
    private(set) var transients: [Int: [String: Value]] = [:]

    init(_ program: Program) {
        model = program.model
        canReopen = program.canReopen
        hasFollower = program.hasFollower
        // They live as long as the objects; whether a change of nothing else can be undone is not defined.
        keepsTransients = program.holdsObjects && !program.hasUndo
        stored = World(model)
        view = stored
        recorded = stored
        states = program.hasUndo ? [stored] : nil
    }

    /// How many steps can be undone and redone.
    var undoable: (back: Int, forth: Int) { (position, (states?.count ?? 1) - 1 - position) }

    var hasChild: Bool { below != nil }

    /// Whether derived attributes of the context in use are what its relationships say: they are computed by saves.
    var knowsDerived: Bool { isClean && !hasChild }
    private var isAllSaved: Bool { isClean && (!hasChild || isParentClean) }

    /// - Returns: nil if the operation makes no sense here (another one before it was left out) and is left out, too.
    mutating func apply(_ operation: Operation) -> Outcome? {
        guard !isLost else { return nil }
        if operation.endsEvent {
            if case .rollback = operation {} else { endEvent() }
            if isLost { return nil }
            if isDenied {
                if case .save = operation {} else if case .rollback = operation {} else { return nil }
            }
        } else if isDenied {
            return nil
        }
        if !operation.keepsTransients { transients = [:] }
        switch operation {
        case .setTransient(let key, let name, let value): return setTransient(key, name, value) ? .done : nil
        case .insert, .set, .point, .add, .remove, .replace, .delete: return edit(operation) ? .done : nil
        case .endEvent, .refreshAll, .forget, .compare: return .done
        case .compareStore: return .done
        case .compareFollower: return hasFollower ? .done : nil
        case .askFollower(let question): return hasFollower && canAsk(question, stored) ? .done : nil
        case .refresh(let key, let isMerging):
            guard isLive(key), isMerging || isClean else { return nil }
            if !isMerging { transients[key] = nil }
            return .done
        case .save: return save()
        case .rollback: return rollBack()
        case .ask(let question, let isNew):
            // Rows that relationships lead to are read as they are stored. A child's store is its parent.
            guard
                isNew || isAllSaved
                    || (question.table == nil ? question.isLocal && !question.namesDerived : !hasChild)
            else { return nil }
            return canAsk(question, question.world(of: self, inNewContext: isNew)) ? .done : nil
        case .follow(let question, let section):
            guard canAsk(question, view), !question.namesDerived, section?.attribute.counts == nil,
                let entity = model.number(question.entity)
            else { return nil }
            // What relationships lead to is sorted as it is stored, and divided as it is.
            guard isAllSaved || question.isLocal && section?.steps.isEmpty ?? true else { return nil }
            return section?.isIn(model, entity) ?? true ? .done : nil
        case .bulk(let bulk): return insert(bulk) ? .done : nil
        case .update(let entity, let condition, let name, let value):
            return update(entity, condition, name, value) ? .done : nil
        case .erase(let entity, let condition): return erase(entity, condition) ? .done : nil
        case .diverge(let divergence): return diverge(divergence)
        case .pin:
            pinned = stored
            return .done
        case .askPinned(let question): return pinned.map { canAsk(question, $0) } ?? false ? .done : nil
        case .checkHistory:
            recorded = stored
            return .done
        case .undo: return move(by: -1) ? .done : nil
        case .redo: return move(by: 1) ? .done : nil
        case .migrate(let change): return migrate(change) ? .done : nil
        case .handOver, .reopen:
            guard isClean, !hasChild else { return nil }
            if case .reopen = operation { pinned = nil }
            forgetUndo()
            return .done
        case .compact: return hasChild ? nil : .done
        case .beginChild:
            guard !hasChild else { return nil }
            forgetUndo()
            below = view
            isParentClean = isClean
            isClean = true
            return .done
        case .endChild(let isSaving): return endChild(isSaving) ? .done : nil
        }
    }

    private func isLive(_ key: Int) -> Bool { view.things[key] != nil && !doomed.contains(key) }

    private mutating func edit(_ operation: Operation) -> Bool {
        switch operation {
        case .insert(let key, let name):
            guard let entity = model.number(name), !model.entities[entity].isAbstract, view.things[key] == nil
            else { return false }
            view.insert(key, entity)
        case .set(let key, let name, let value):
            guard isLive(key), let entity = view.things[key]?.entity,
                model.attribute(name, of: entity) != nil
            else { return false }
            view.set(key, name, value)
        case .point(let key, let name, let target):
            guard canLink(key, name, target.map { [$0] } ?? [], toMany: false) else { return false }
            view.setOne(key, name, target)
        case .add(let key, let name, let target):
            guard canLink(key, name, [target], toMany: true) else { return false }
            view.add(key, name, target)
        case .remove(let key, let name, let target):
            guard canLink(key, name, [target], toMany: true), view.targets(key, name).contains(target)
            else { return false }
            view.remove(key, name, target)
        case .replace(let key, let name, let targets):
            guard canLink(key, name, targets, toMany: true) else { return false }
            view.set(key, name, targets)
        case .delete(let key):
            guard isLive(key) else { return false }
            let closure = view.closure(doomed + [key])
            // A rule may leave references that lead nowhere; what they do is not defined.
            if view.leavesDangling(closure) || (hasChild && !view.denied(closure).isEmpty) { return false }
            doomed.append(key)
        default: return false
        }
        isClean = false
        hasEdits = true
        return true
    }

    private mutating func setTransient(_ key: Int, _ name: String, _ value: Value) -> Bool {
        guard keepsTransients, !hasChild, isLive(key), let entity = view.things[key]?.entity,
            model.allTransients[entity].contains(where: { $0.name == name })
        else { return false }
        transients[key, default: [:]][name] = value
        isClean = false
        return true
    }

    private func canLink(_ key: Int, _ name: String, _ targets: [Int], toMany: Bool) -> Bool {
        guard isLive(key), let entity = view.things[key]?.entity, let relation = model.relation(name),
            relation.isToMany == toMany, model.isKind(entity, of: relation.owner),
            !view.targets(key, name).contains(where: doomed.contains)
        else { return false }
        return targets.allSatisfy { target in
            isLive(target) && model.isKind(view.things[target]?.entity ?? 0, of: relation.destination)
        }
    }

    private func canAsk(_ question: Question, _ world: World) -> Bool {
        model.number(question.entity) != nil
            && question.isAbout(model)
            && question.objects.allSatisfy { world.things[$0] != nil }
    }

    /// Follows the delete rules of what was deleted in this event.
    private mutating func endEvent() {
        followRules()
        guard hasEdits else { return }
        hasEdits = false
        guard let states, !hasChild, !isLost, !isDenied else { return }
        // Whether changes that come to nothing are a step is not defined.
        if view.differences(from: states[position]).isEmpty { isLost = true }
        self.states = states.prefix(position + 1) + [view]
        position += 1
    }

    private mutating func forgetUndo() {
        if states != nil { states = [view] }
        position = 0
        hasEdits = false
    }

    private mutating func move(by distance: Int) -> Bool {
        guard let states, !hasChild, states.indices.contains(position + distance) else { return false }
        position += distance
        view = states[position]
        isClean = false
        return true
    }

    private mutating func followRules() {
        guard !doomed.isEmpty else { return }
        let closure = view.closure(doomed)
        let denied = view.denied(closure)
        doomed = []
        if view.leavesDangling(closure) {
            isLost = true
            return
        }
        if !denied.isEmpty {
            isDenied = true
            // What was never saved is not validated, and what a child deletes is validated against its parent.
            if hasChild || denied.contains(where: { stored.things[$0] == nil }) { isLost = true }
            return
        }
        view.delete(closure)
    }

    private mutating func save() -> Outcome {
        if isDenied {
            _ = rollBack()
            return .refused
        }
        if !isClean || !hasChild { view.derive() }
        if hasChild {
            below = view
            isParentClean = isParentClean && isClean
        } else {
            stored = view
        }
        isClean = true
        forgetUndo()
        return .done
    }

    private mutating func rollBack() -> Outcome {
        doomed = []
        transients = [:]
        isDenied = false
        view = below ?? stored
        isClean = true
        forgetUndo()
        return .done
    }

    private mutating func endChild(_ isSaving: Bool) -> Bool {
        guard let parent = below else { return false }
        if isSaving {
            if !isClean { view.derive() }
            isParentClean = isParentClean && isClean
        } else {
            view = parent
        }
        below = nil
        isClean = isParentClean
        forgetUndo()
        return true
    }

    private mutating func insert(_ bulk: Bulk) -> Bool {
        guard isClean, !hasChild, bulk.entities.allSatisfy({ model.number($0) != nil }),
            (bulk.link?.targets ?? []).allSatisfy({ view.things[$0] != nil })
        else { return false }
        if let link = bulk.link, model.relation(link.name) == nil { return false }
        for (row, name) in bulk.entities.enumerated() {
            guard let entity = model.number(name), view.things[bulk.first + row] == nil else { return false }
            view.insert(bulk.first + row, entity)
            for column in bulk.columns(of: entity, model) {
                view.set(bulk.first + row, column.name, column.value(row))
            }
        }
        if let link = bulk.link {
            for (row, name) in bulk.entities.enumerated() {
                guard let entity = model.number(name), let target = bulk.target(row, of: entity, model) else {
                    continue
                }
                view.setOne(bulk.first + row, link.name, target)
            }
        }
        view.derive()
        stored = view
        forgetUndo()
        return true
    }

    // MARK: Batches, conflicts, migration

    private func matches(_ entity: String, _ condition: Condition?) -> [Int]? {
        let question = Question(entity: entity, condition: condition)
        guard isClean, !hasChild, canAsk(question, stored) else { return nil }
        return question.answer(stored)
    }

    private mutating func update(_ entity: String, _ condition: Condition?, _ name: String, _ value: Value) -> Bool {
        guard let number = model.number(entity), model.attribute(name, of: number) != nil,
            let keys = matches(entity, condition)
        else { return false }
        for key in keys { view.set(key, name, value) }
        stored = view
        forgetUndo()
        return true
    }

    private mutating func erase(_ entity: String, _ condition: Condition?) -> Bool {
        guard let number = model.number(entity), !model.entities[number].isPermanent,
            let keys = matches(entity, condition)
        else { return false }
        let closure = view.closure(keys)
        if view.leavesDangling(closure) { return false }
        view.delete(closure)
        view.derive()
        stored = view
        forgetUndo()
        return true
    }

    private mutating func diverge(_ divergence: Divergence) -> Outcome? {
        guard isClean, !hasChild, divergence.isPossible(stored) else { return nil }
        let outcome = divergence.outcome(stored)
        stored = outcome ?? divergence.theirOutcome(stored)
        view = stored
        forgetUndo()
        return outcome == nil ? .conflict : .done
    }

    private mutating func migrate(_ change: ModelChange) -> Bool {
        guard canReopen, isClean, !hasChild, let next = change.apply(to: model) else { return false }
        model = next
        stored = change.apply(to: stored, next)
        recorded = change.apply(to: recorded, next)
        view = stored
        pinned = nil
        forgetUndo()
        return true
    }
}

extension Operation {
    /// Whether objects keep what is not stored of them.
    fileprivate var keepsTransients: Bool {
        switch self {
        case .insert, .set, .setTransient, .point, .add, .remove, .replace, .delete, .endEvent, .save, .refresh,
            .refreshAll, .compare, .compareStore, .compareFollower, .ask, .askFollower, .askPinned, .pin, .follow,
            .checkHistory, .compact:
            true
        default: false
        }
    }
}
