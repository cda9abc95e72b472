import CoreData
import Foundation
import Testing

@Suite struct UndoManagerTests {
    /// A counter whose changes can be undone.
    final class Counter {
        var value = 0
        let manager: UndoManager

        init(_ manager: UndoManager) {
            self.manager = manager
        }

        func set(_ new: Int) {
            let old = value
            manager.registerUndo(withTarget: self) { $0.set(old) }
            value = new
        }
    }

    private func makeCounter(groupsByEvent: Bool = false) -> (Counter, UndoManager) {
        let manager = UndoManager()
        manager.groupsByEvent = groupsByEvent
        return (Counter(manager), manager)
    }

    private func group(_ manager: UndoManager, _ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        manager.endUndoGrouping()
    }

    @Test func defaults() {
        let manager = UndoManager()
        #expect(manager.groupsByEvent && manager.levelsOfUndo == 0 && manager.groupingLevel == 0)
        #expect(manager.isUndoRegistrationEnabled && !manager.isUndoing && !manager.isRedoing)
        #expect(!manager.canUndo && !manager.canRedo && manager.undoCount == 0 && manager.redoCount == 0)
        #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
        #expect(manager.runLoopModes == [.default])
        manager.undo()
        manager.redo()
    }

    @Test func groupsAreUndoneOneByOne() {
        let (counter, manager) = makeCounter()
        group(manager) {
            counter.set(1)
            counter.set(2)
        }
        group(manager) { counter.set(3) }
        #expect(manager.undoCount == 2)
        manager.undo()
        #expect(counter.value == 2 && manager.canUndo && manager.canRedo)
        manager.undo()
        #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
        manager.redo()
        #expect(counter.value == 2)
        manager.redo()
        #expect(counter.value == 3 && !manager.canRedo)
        manager.undo()
        group(manager) { counter.set(9) }
        #expect(!manager.canRedo && counter.value == 9)
        manager.undo()
        #expect(counter.value == 2)
    }

    @Test func nestedGroupsBelongToTheOuterOne() {
        let (counter, manager) = makeCounter()
        manager.beginUndoGrouping()
        counter.set(1)
        group(manager) { counter.set(2) }
        group(manager) { counter.set(3) }
        #expect(manager.groupingLevel == 1)
        manager.undoNestedGroup()
        #expect(counter.value == 2 && manager.groupingLevel == 1)
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.value == 0 && !manager.canUndo)
        manager.redo()
        #expect(counter.value == 2)
        manager.redo()
        #expect(!manager.canRedo)
    }

    @Test func anEventGroupIsOpenedBySelfAndClosedByUndo() {
        let (counter, manager) = makeCounter(groupsByEvent: true)
        counter.set(1)
        #expect(manager.groupingLevel == 1 && manager.canUndo)
        group(manager) {
            #expect(manager.groupingLevel == 2)
            counter.set(2)
        }
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0 && !manager.canUndo)
        manager.redo()
        #expect(counter.value == 2 && manager.groupingLevel == 0)
    }

    @MainActor @Test func anEventEndsWithTheMainQueuesTurn() async {
        let (counter, manager) = makeCounter(groupsByEvent: true)
        for value in 1...2 {
            counter.set(value)
            counter.set(value * 10)
            #expect(manager.groupingLevel == 1)
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async { continuation.resume() }
            }
            #expect(manager.groupingLevel == 0)
        }
        manager.undo()
        #expect(counter.value == 10)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test func registrationCanBeDisabled() {
        let (counter, manager) = makeCounter()
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.set(1)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
    }

    @Test func levelsAreLimited() {
        let (counter, manager) = makeCounter()
        manager.levelsOfUndo = 2
        for value in 1...4 { group(manager) { counter.set(value) } }
        #expect(manager.undoCount == 2)
        manager.undo()
        manager.undo()
        manager.undo()
        #expect(counter.value == 2 && manager.redoCount == 2)
        manager.levelsOfUndo = 1
        #expect(manager.redoCount == 1)
    }

    @Test func actionsAreRemovedByTarget() {
        let (counter, manager) = makeCounter()
        let other = Counter(manager)
        group(manager) { counter.set(1) }
        group(manager) {
            counter.set(2)
            other.set(5)
        }
        manager.removeAllActions(withTarget: counter)
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 2 && other.value == 0)
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
    }

    @Test func targetsAreNotRetained() {
        let (kept, manager) = makeCounter()
        weak var weakCounter: Counter?
        do {
            let counter = Counter(manager)
            weakCounter = counter
            group(manager) {
                kept.set(1)
                counter.set(1)
            }
        }
        #expect(weakCounter == nil)
        manager.undo()
        #expect(kept.value == 0)
    }

    @Test func namesFollowTheirGroups() {
        let (counter, manager) = makeCounter()
        group(manager) {
            counter.set(1)
            manager.setActionName("Add")
            manager.setActionIsDiscardable(true)
            manager.setActionUserInfoValue(7, forKey: .init("key"))
        }
        group(manager) { counter.set(2) }
        manager.setActionName("Change")
        #expect(manager.undoActionName == "Change" && manager.undoMenuItemTitle == "Undo Change")
        #expect(!manager.undoActionIsDiscardable)
        manager.undo()
        #expect(manager.undoActionName == "Add" && manager.redoActionName == "Change")
        #expect(manager.undoActionIsDiscardable && manager.redoMenuItemTitle == "Redo Change")
        #expect(manager.undoActionUserInfoValue(forKey: .init("key")) as? Int == 7)
        manager.undo()
        #expect(manager.undoActionName == "" && manager.redoActionName == "Add" && manager.redoActionIsDiscardable)
        #expect(manager.redoActionUserInfoValue(forKey: .init("key")) as? Int == 7)
        #expect(manager.redoMenuTitle(forUndoActionName: "X") == "Redo X")
        #expect(manager.undoMenuTitle(forUndoActionName: "") == "Undo")
    }

    @Test func notificationsComeInOrder() {
        let (counter, manager) = makeCounter()
        let names: [(Notification.Name, String)] = [
            (.NSUndoManagerCheckpoint, "checkpoint"), (.NSUndoManagerDidOpenUndoGroup, "open"),
            (.NSUndoManagerWillCloseUndoGroup, "will close"), (.NSUndoManagerDidCloseUndoGroup, "did close"),
            (.NSUndoManagerWillUndoChange, "will undo"), (.NSUndoManagerDidUndoChange, "did undo"),
            (.NSUndoManagerWillRedoChange, "will redo"), (.NSUndoManagerDidRedoChange, "did redo"),
        ]
        let seen = Log()
        let tokens = names.map { name, text in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { notification in
                let isDiscardable = notification.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool ?? false
                seen.add(isDiscardable ? text + "!" : text)
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        group(manager) { counter.set(1) }
        #expect(seen.take() == ["checkpoint", "open", "checkpoint", "will close", "did close"])
        group(manager) {
            counter.set(2)
            manager.setActionIsDiscardable(true)
        }
        #expect(seen.take() == ["checkpoint", "open", "checkpoint", "will close!", "did close!"])
        manager.undoNestedGroup()
        #expect(seen.take() == ["checkpoint", "will undo", "did undo"])
        manager.redo()
        #expect(seen.take() == ["checkpoint", "will redo", "did redo"])
        _ = manager.canUndo
        #expect(seen.take() == ["checkpoint"])
    }

    final class Log: @unchecked Sendable {
        // Unchecked: written and read on one thread.
        private var lines: [String] = []

        func add(_ line: String) { lines.append(line) }

        func take() -> [String] {
            defer { lines = [] }
            return lines
        }
    }
}
