/// Two contexts that change the same objects: one has saved when the other saves under a policy.
struct Divergence {
    enum Policy: String, CaseIterable {
        case error, rollback, overwrite
        case object = "mergeByPropertyObjectTrump"
        case store = "mergeByPropertyStoreTrump"
    }

    struct Change {
        var key: Int
        var name: String
        var value: Value
    }

    /// What the context in use changes after it has read the objects, and what the other one saves meanwhile.
    var mine: [Change]
    var theirs: [Change]
    var policy: Policy

    /// What is stored in the end; nil if the second save is refused.
    func outcome(_ stored: World) -> World? {
        var result = stored
        for change in theirs { result.set(change.key, change.name, change.value) }
        let changedThere = Dictionary(grouping: theirs, by: \.key)
        for (key, changes) in Dictionary(grouping: mine, by: \.key) {
            guard let there = changedThere[key] else {
                for change in changes { result.set(key, change.name, change.value) }
                continue
            }
            switch policy {
            case .error: return nil
            case .rollback: continue
            case .overwrite:
                if let thing = stored.things[key] { result.put(key, thing) }
                for change in changes { result.set(key, change.name, change.value) }
            case .object:
                for change in changes { result.set(key, change.name, change.value) }
            case .store:
                for change in changes where !there.contains(where: { $0.name == change.name }) {
                    result.set(key, change.name, change.value)
                }
            }
        }
        return result
    }
}
