import Foundation

/// Actions that are undone together, in an ``UndoManager``.
final class UndoGroup {
    enum Entry {
        /// One registered action. The target is not retained; an action whose target has gone does nothing.
        case action(target: ObjectIdentifier, perform: () -> Void)
        case group(UndoGroup)
    }

    var entries: [Entry] = []
    var actionName = ""
    var isDiscardable = false
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]
    /// Opened by the manager itself, for everything that happens in one event.
    let isEvent: Bool

    init(isEvent: Bool = false) {
        self.isEvent = isEvent
    }

    /// Whether neither the group nor any group in it has an action.
    var isEmpty: Bool {
        entries.allSatisfy { entry in
            if case .group(let group) = entry { return group.isEmpty }
            return false
        }
    }

    /// Performs the actions, the last one first.
    func perform() {
        for entry in entries.reversed() {
            switch entry {
            case .action(_, let perform): perform()
            case .group(let group): group.perform()
            }
        }
    }

    /// Takes out the actions of one target, and groups that are left empty by it.
    ///
    /// - Returns: whether there were any.
    func removeActions(target: ObjectIdentifier) -> Bool {
        var hasRemoved = false
        entries.removeAll { entry in
            switch entry {
            case .action(let other, _):
                if other == target { hasRemoved = true }
                return other == target
            case .group(let group):
                guard group.removeActions(target: target) else { return false }
                hasRemoved = true
                return group.entries.isEmpty
            }
        }
        return hasRemoved
    }
}
