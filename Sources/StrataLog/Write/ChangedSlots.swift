/// Which slots each of an entity's updates in one transaction changes. Mostly all change the same, and there is no
/// list.
struct ChangedSlots {
    /// Of the last update.
    private(set) var last = SlotSet()
    private var count = 0
    /// Of each update; empty as long as all are alike.
    private var each: [SlotSet] = []

    /// Updates by their numbers.
    enum Rows {
        case all
        case some([Int])
    }

    mutating func append(_ changed: SlotSet) {
        if changed != last {
            if each.isEmpty { each = Array(repeating: last, count: count) }
            last = changed
        }
        // Also of the first, if that is not the empty set: then it is all there is so far.
        if !each.isEmpty { each.append(changed) }
        count += 1
    }

    /// Calls `body` for updates that change the same slots, in the order in which such a set came first. Not in groups
    /// of limited length.
    func forEachGroup(_ body: (SlotSet, Rows) -> Void) {
        if count == 0 { return }
        if each.isEmpty { return body(last, .all) }
        var groups: [(changed: SlotSet, rows: [Int])] = []
        var groupOf: [SlotSet: Int] = [:]
        for row in each.indices {
            // Neighbouring updates mostly change the same slots: one comparison instead of a hash.
            if let last = groups.indices.last, groups[last].changed == each[row] {
                groups[last].rows.append(row)
            } else if let group = groupOf[each[row]] {
                groups[group].rows.append(row)
            } else {
                groupOf[each[row]] = groups.count
                groups.append((each[row], [row]))
            }
        }
        for group in groups { body(group.changed, .some(group.rows)) }
    }
}
