public import Foundation
import StrataSupport

/// Records operations that can be undone and redone. Linux's Foundation lacks it.
///
/// Actions are registered into groups, and a group is undone as a whole. With ``groupsByEvent``, the default, the
/// manager opens a group by itself when something is registered or begun while none is open; further groups nest in it.
/// Where Apple's closes this group at the end of the run loop's turn, this one closes it
/// - at the end of the main queue's turn when it was opened on the main thread,
/// - at the end of the block given to `perform` of a managed object context that has this manager,
/// - and whenever ``undo()`` is called.
///
/// Targets are not retained: an action whose target has gone does nothing.
///
/// Thread rule: one thread or queue at a time, that of the objects whose changes are recorded.
open class UndoManager: NSObject {
    private enum State {
        case idle
        case undoing
        case redoing
    }

    private var state = State.idle
    /// The groups that are open, the innermost last.
    private var open: [UndoGroup] = []
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    private var disableCount = 0
    /// How many event groups have been opened.
    private var eventNumber = 0
    private var isEventOver = false

    /// Whether a group is opened by itself for everything that happens in one event. Default `true`.
    open var groupsByEvent = true

    /// The most top-level groups that are kept to be undone, and to be redone; 0, the default, for no limit. The oldest
    /// are given up first.
    open var levelsOfUndo = 0 {
        didSet {
            trim(&undoStack)
            trim(&redoStack)
        }
    }

    /// The run loop modes that Apple's manager ends its event groups in. Kept only: no run loop is needed here.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    /// Creates a manager that groups by event and keeps any number of groups.
    public override init() {
        super.init()
    }

    // MARK: Groups

    /// How many groups are open.
    open var groupingLevel: Int { open.count }

    /// Opens a group. Each has to be closed with ``endUndoGrouping()``.
    ///
    /// Posts `NSUndoManagerCheckpoint` unless something is being undone, and `NSUndoManagerDidOpenUndoGroup`.
    open func beginUndoGrouping() {
        if groupsByEvent, open.isEmpty { openEventGroup() }
        checkpoint()
        push(UndoGroup())
    }

    /// Closes the group that was opened last.
    ///
    /// Posts `NSUndoManagerCheckpoint` unless something is being undone, `NSUndoManagerWillCloseUndoGroup` and
    /// `NSUndoManagerDidCloseUndoGroup`.
    /// - Precondition: a group is open.
    open func endUndoGrouping() {
        guard !open.isEmpty else {
            programmerError(
                "UndoManager", "endUndoGrouping() was called without a matching beginUndoGrouping()",
                "Begin a group first")
        }
        guard state == .idle || open.count > 1 else {
            programmerError(
                "UndoManager", "endUndoGrouping() was called for the group that undo or redo has opened",
                "End only groups that you have begun")
        }
        checkpoint()
        guard let group = open.last else { return }
        post(.NSUndoManagerWillCloseUndoGroup, group)
        open.removeLast()
        if let outer = open.last {
            outer.entries.append(.group(group))
        } else if !group.isEvent || !group.isEmpty {
            // The groups of redo and undo never come here: their level is that of the operation.
            undoStack.append(group)
            trim(&undoStack)
        }
        post(.NSUndoManagerDidCloseUndoGroup, group)
        if isEventOver, open.count == 1 { closeEventGroup() }
    }

    private func push(_ group: UndoGroup) {
        open.append(group)
        NotificationCenter.default.post(name: .NSUndoManagerDidOpenUndoGroup, object: self)
    }

    private func openEventGroup() {
        eventNumber += 1
        isEventOver = false
        push(UndoGroup(isEvent: true))
        guard MainQueue.isCurrent else { return }
        let number = eventNumber
        let reference = WeakManager(manager: self)
        DispatchQueue.main.async {
            guard let manager = reference.manager, manager.eventNumber == number else { return }
            manager.closeEventGroup()
        }
    }

    /// Ends the event: closes its group, or leaves that to the last group in it.
    package final func closeEventGroup() {
        guard state == .idle, open.first?.isEvent == true else { return }
        isEventOver = true
        if open.count == 1 { endUndoGrouping() }
    }

    private func trim(_ stack: inout [UndoGroup]) {
        if levelsOfUndo > 0, stack.count > levelsOfUndo { stack.removeFirst(stack.count - levelsOfUndo) }
    }

    // MARK: Registering

    /// Whether operations are recorded. Disabling is counted.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Stops recording operations until ``enableUndoRegistration()`` is called as often.
    open func disableUndoRegistration() {
        disableCount += 1
    }

    /// Takes one call of ``disableUndoRegistration()`` back.
    ///
    /// - Precondition: registration is disabled.
    open func enableUndoRegistration() {
        guard disableCount > 0 else {
            programmerError(
                "UndoManager", "enableUndoRegistration() was called without a matching disableUndoRegistration()",
                "Disable registration first")
        }
        disableCount -= 1
    }

    /// Records an operation: undoing calls the handler with the target. What the handler registers in turn is what
    /// redoing does.
    ///
    /// - Parameters:
    ///   - target: not retained; when it has gone, the operation does nothing.
    ///   - handler: kept until the operation is undone or removed; a target that it captures is kept, too.
    /// - Precondition: a group is open, or ``groupsByEvent`` is set.
    open func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        if open.isEmpty {
            guard groupsByEvent else {
                programmerError(
                    "UndoManager", "an undo operation was registered outside of a group",
                    "Call beginUndoGrouping() first, or set groupsByEvent")
            }
            openEventGroup()
        }
        if state == .idle { redoStack = [] }
        let perform = { [weak target] in
            if let target { handler(target) }
        }
        open.last?.entries.append(.action(target: ObjectIdentifier(target), perform: perform))
    }

    // MARK: Undoing

    /// Whether there is anything to undo. Posts `NSUndoManagerCheckpoint`.
    open var canUndo: Bool {
        checkpoint()
        return !undoStack.isEmpty || (state == .idle && open.contains { !$0.isEmpty })
    }

    /// Whether there is anything to redo. Posts `NSUndoManagerCheckpoint`.
    open var canRedo: Bool {
        checkpoint()
        return !redoStack.isEmpty
    }

    /// Whether ``undo()`` or ``undoNestedGroup()`` is at work.
    open var isUndoing: Bool { state == .undoing }

    /// Whether ``redo()`` is at work.
    open var isRedoing: Bool { state == .redoing }

    /// How many top-level groups can be undone.
    open var undoCount: Int { undoStack.count + (state == .idle && open.contains { !$0.isEmpty } ? 1 : 0) }

    /// How many groups can be redone.
    open var redoCount: Int { redoStack.count }

    /// Closes the top-level group if it is the only one open, and undoes the last group.
    ///
    /// - Precondition: no nested group is open, and nothing is being undone or redone.
    open func undo() {
        checkpoint()
        if open.count == 1, state == .idle { endUndoGrouping() }
        guard open.isEmpty else {
            programmerError(
                "UndoManager", "undo() was called with open groups", "End the groups first, or call undoNestedGroup()")
        }
        undoNestedGroup()
    }

    /// Undoes the last group, whether it is nested in an open one or not. Does nothing if there is none.
    ///
    /// Posts `NSUndoManagerCheckpoint`, `NSUndoManagerWillUndoChange` and `NSUndoManagerDidUndoChange`.
    /// - Precondition: nothing was registered since the last group was closed, and nothing is being undone or redone.
    open func undoNestedGroup() {
        guard state == .idle else {
            programmerError(
                "UndoManager", "undoNestedGroup() was called while undoing or redoing",
                "Wait until undo() or redo() has returned")
        }
        checkpoint()
        var group: UndoGroup?
        if let current = open.last {
            if case .group(let last)? = current.entries.last {
                current.entries.removeLast()
                group = last
            } else {
                guard current.entries.isEmpty else {
                    programmerError(
                        "UndoManager", "undoNestedGroup() was called before the last group was closed",
                        "Call endUndoGrouping() first")
                }
            }
        } else {
            group = undoStack.popLast()
        }
        guard let group else { return }
        NotificationCenter.default.post(name: .NSUndoManagerWillUndoChange, object: self)
        let inverse = perform(group, .undoing)
        if !inverse.isEmpty { redoStack.append(inverse) }
        trim(&redoStack)
        NotificationCenter.default.post(name: .NSUndoManagerDidUndoChange, object: self)
    }

    /// Undoes the last undoing. Does nothing if there is none.
    ///
    /// Posts `NSUndoManagerCheckpoint`, `NSUndoManagerWillRedoChange` and `NSUndoManagerDidRedoChange`.
    /// - Precondition: nothing is being undone or redone.
    open func redo() {
        guard state == .idle else {
            programmerError(
                "UndoManager", "redo() was called while undoing or redoing", "Wait until undo() or redo() has returned")
        }
        checkpoint()
        guard let group = redoStack.popLast() else { return }
        if open.count == 1, open[0].isEvent { endUndoGrouping() }
        NotificationCenter.default.post(name: .NSUndoManagerWillRedoChange, object: self)
        let inverse = perform(group, .redoing)
        if !inverse.isEmpty { undoStack.append(inverse) }
        trim(&undoStack)
        NotificationCenter.default.post(name: .NSUndoManagerDidRedoChange, object: self)
    }

    /// Performs a group's actions.
    ///
    /// - Returns: what they registered.
    private func perform(_ group: UndoGroup, _ newState: State) -> UndoGroup {
        let inverse = UndoGroup()
        inverse.actionName = group.actionName
        inverse.isDiscardable = group.isDiscardable
        inverse.userInfo = group.userInfo
        let outer = open
        open = [inverse]
        state = newState
        group.perform()
        guard open.count == 1 else {
            programmerError(
                "UndoManager", "an undo operation has begun a group and not ended it",
                "Call endUndoGrouping() in the operation")
        }
        state = .idle
        open = outer
        return inverse
    }

    // MARK: Clearing

    /// Forgets everything that can be undone or redone, and enables registration. Groups that are open stay open.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        disableCount = 0
        for group in open { group.entries = [] }
    }

    /// Forgets the operations that were registered with a target, and groups that have no other.
    open func removeAllActions(withTarget target: Any) {
        removeActions(target: ObjectIdentifier(target as AnyObject))
    }

    package final func removeActions(target identity: ObjectIdentifier) {
        for group in open { _ = group.removeActions(target: identity) }
        undoStack.removeAll { $0.removeActions(target: identity) && $0.entries.isEmpty }
        redoStack.removeAll { $0.removeActions(target: identity) && $0.entries.isEmpty }
    }

    // MARK: Notifications

    private func checkpoint() {
        guard state == .idle else { return }
        NotificationCenter.default.post(name: .NSUndoManagerCheckpoint, object: self)
    }

    private func post(_ name: Notification.Name, _ group: UndoGroup) {
        NotificationCenter.default.post(
            name: name, object: self,
            userInfo: group.isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: true] : nil)
    }

    // MARK: What the groups are called

    /// The group that a name given now is for.
    final var groupToName: UndoGroup? { open.first ?? undoStack.last }

    final var groupToUndo: UndoGroup? {
        if state == .idle, let event = open.first, !event.isEmpty { return event }
        return undoStack.last
    }

    final var groupToRedo: UndoGroup? { redoStack.last }
}

/// Leads the main queue back to a manager. Unchecked: only the main queue, which the manager belongs to, follows it.
private struct WeakManager: @unchecked Sendable {
    weak var manager: UndoManager?
}
