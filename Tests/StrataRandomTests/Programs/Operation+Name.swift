extension Operation {
    /// What it is, for a message.
    var name: String {
        switch self {
        case .insert(let key, let entity): "insert \(key), a \(entity)"
        case .set(let key, let name, _), .setTransient(let key, let name, _): "set \(key).\(name)"
        case .point(let key, let name, let target): "\(key).\(name) = \(target.map { "\($0)" } ?? "nil")"
        case .add(let key, let name, let target): "add \(target) to \(key).\(name)"
        case .remove(let key, let name, let target): "remove \(target) from \(key).\(name)"
        case .replace(let key, let name, let targets): "\(key).\(name) = \(targets)"
        case .delete(let key): "delete \(key)"
        case .endEvent: "end of the event"
        case .save: "save"
        case .rollback: "rollback"
        case .refresh(let key, let isMerging): "refresh \(key), \(isMerging ? "merging" : "dropping") changes"
        case .refreshAll: "refresh all"
        case .forget: "forget"
        case .compare: "compare"
        case .compareStore: "compare the store"
        case .compareFollower: "compare the follower"
        case .askFollower(let question):
            "fetch \(question.entity) \(question.condition?.format.text ?? "") from the follower"
        case .ask(let question, let isNew):
            "fetch \(question.entity) \(question.condition?.format.text ?? "")\(isNew ? " in a new context" : "")"
        case .follow(let question, let section):
            "follow \(question.entity) \(question.condition?.format.text ?? ""), sections \(section?.text ?? "none")"
        case .bulk(let bulk): "insert \(bulk.count) rows\(bulk.isBatch ? " by batches" : "")"
        case .update(let entity, let condition, let name, _):
            "batch-update \(name) of \(entity) \(condition?.format.text ?? "")"
        case .erase(let entity, let condition): "batch-delete \(entity) \(condition?.format.text ?? "")"
        case .diverge(let divergence):
            "diverge, policy \(divergence.policy): \(divergence.mine.map(\.name)), meanwhile "
                + "\(divergence.theirs.map(\.name))"
        case .pin: "pin"
        case .askPinned(let question):
            "pinned-fetch \(question.entity) \(question.condition?.format.text ?? "")"
        case .checkHistory: "history"
        case .undo: "undo"
        case .redo: "redo"
        case .migrate(let change): "migrate \(change)"
        case .handOver: "the other context"
        case .beginChild: "begin a child"
        case .endChild(let isSaving): "end the child, \(isSaving ? "saving" : "discarding")"
        case .reopen: "reopen"
        case .compact: "compact"
        }
    }
}
