public import Foundation

// What undo and redo are called in menus, and the notifications.

extension UndoManager {
    /// The key of a value that a program keeps with a group.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The key as a string.
        public var rawValue: String

        /// The key that is this string.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The key that is this string.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    // MARK: Names

    /// Names what the top-level group does: the open one, or if none is open the last one. Empty for no name.
    public func setActionName(_ actionName: String) {
        groupToName?.actionName = actionName
    }

    /// The name of what ``undo()`` would undo; empty if it has none.
    public var undoActionName: String { groupToUndo?.actionName ?? "" }

    /// The name of what ``redo()`` would redo; empty if it has none.
    public var redoActionName: String { groupToRedo?.actionName ?? "" }

    /// "Undo", with the name of what would be undone.
    public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// "Redo", with the name of what would be redone.
    public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// "Undo" with a name, or alone if the name is empty.
    public func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// "Redo" with a name, or alone if the name is empty.
    public func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    // MARK: Discardable actions and user info

    /// Says whether the last group may be given up when the document cannot be saved.
    public func setActionIsDiscardable(_ discardable: Bool) {
        groupToName?.isDiscardable = discardable
    }

    /// Whether what ``undo()`` would undo was marked as discardable.
    public var undoActionIsDiscardable: Bool { groupToUndo?.isDiscardable ?? false }

    /// Whether what ``redo()`` would redo was marked as discardable.
    public var redoActionIsDiscardable: Bool { groupToRedo?.isDiscardable ?? false }

    /// Keeps a value with the last group; nil removes it.
    public func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
        groupToName?.userInfo[key] = info
    }

    /// A value that was kept with what ``undo()`` would undo.
    public func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { groupToUndo?.userInfo[key] }

    /// A value that was kept with what ``redo()`` would redo.
    public func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { groupToRedo?.userInfo[key] }
}

/// In the user info of notifications about groups: true if the group is discardable.
public let NSUndoManagerGroupIsDiscardableKey: String = "NSUndoManagerGroupIsDiscardableKey"

extension NSNotification.Name {
    /// Posted before a group is opened or closed, before undoing and redoing, and when it is asked whether there is
    /// anything to undo: the moment to register what is not registered yet.
    public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
    /// Posted after a group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// Posted before a group is closed.
    public static let NSUndoManagerWillCloseUndoGroup = Notification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// Posted after a group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    /// Posted before a group is undone.
    public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
    /// Posted after a group was undone.
    public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
    /// Posted before a group is redone.
    public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
    /// Posted after a group was redone.
    public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}
