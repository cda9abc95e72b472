import CoreData
import Foundation
import Strata

// What programs write that know of Strata, too: observing and messages.

/// Keeps what it hears.
@MainActor final class CompilingListener {
    private(set) var heard: [String] = []
    private var tokens: [NotificationCenter.ObservationToken] = []

    init(_ context: NSManagedObjectContext) {
        let center = NotificationCenter.default
        tokens = [
            center.addObserver(of: context, for: .willSave) { [weak self] _ in self?.heard.append("will") },
            center.addObserver(of: context, for: .didSave) { [weak self] message in
                self?.heard.append("did \(message.inserted.count) \(message.updated.count) \(message.deleted.count)")
            },
            center.addObserver(of: context, for: .didSaveObjectIDs) { [weak self] message in
                self?.heard.append("ids \(message.insertedIDs.count) \(message.context === context)")
            },
            center.addObserver(of: context, for: .objectsDidChange) { [weak self] message in
                self?.heard.append("changed \(message.inserted.count) \(message.invalidatedAll == true)")
            },
            center.addObserver(of: context, for: .didMergeChanges) { [weak self] message in
                self?.heard.append("merged \(message.updatedIDs.count)")
            },
        ]
    }

    func forget() { heard = [] }
}

enum CompilingStrata {
    static func observe(
        _ place: CompilingPlace, _ note: @escaping (String?, String?) -> Void
    ) -> NSKeyValueObservation {
        place.observe(\.title, options: [.old, .new]) { _, change in
            note(change.oldValue ?? nil, change.newValue ?? nil)
        }
    }

    static func changes(of context: NSManagedObjectContext, _ note: @escaping (Bool?) -> Void) -> NSKeyValueObservation
    {
        context.observe(\.hasChanges, options: .new) { _, change in note(change.newValue) }
    }
}
