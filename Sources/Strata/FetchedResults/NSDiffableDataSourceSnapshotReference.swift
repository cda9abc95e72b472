public import Foundation
import StrataSupport

/// The contents of a fetched results controller as identifiers: section names (`String`) and object IDs
/// (`NSManagedObjectID`).
///
/// UIKit and AppKit declare this class; Linux has neither, so this is the part of it that a delegate reads. Immutable.
public final class NSDiffableDataSourceSnapshotReference: NSObject, NSCopying, Sendable {
    private let sections: [(name: String, items: [NSManagedObjectID])]
    private let reloaded: [NSManagedObjectID]

    init(_ sections: [(name: String, items: [NSManagedObjectID])], reloaded: [NSManagedObjectID]) {
        self.sections = sections
        self.reloaded = reloaded
    }

    /// How many objects there are.
    public var numberOfItems: Int { sections.reduce(0) { $0 + $1.items.count } }

    /// How many sections there are.
    public var numberOfSections: Int { sections.count }

    /// The section names, in order.
    public var sectionIdentifiers: [Any] { sections.map(\.name) }

    /// The object IDs, in order.
    public var itemIdentifiers: [Any] { sections.flatMap(\.items) }

    /// The IDs of objects that stayed and changed.
    public var reloadedItemIdentifiers: [Any] { reloaded }

    /// How many objects a section has.
    ///
    /// - Precondition: there is such a section.
    public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        items(sectionIdentifier).count
    }

    /// The IDs of the objects of a section.
    ///
    /// - Precondition: there is such a section.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        items(sectionIdentifier)
    }

    /// The name of the section that an object is in; nil if it is in none.
    public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        guard let id = itemIdentifier as? NSManagedObjectID else { return nil }
        return sections.first { $0.items.contains(id) }?.name
    }

    /// The position of an object among all, `NSNotFound` if there is no such one.
    public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        guard let id = itemIdentifier as? NSManagedObjectID else { return NSNotFound }
        return sections.lazy.flatMap(\.items).enumerated().first { $0.element == id }?.offset ?? NSNotFound
    }

    /// The position of a section, `NSNotFound` if there is no such one.
    public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        section(sectionIdentifier) ?? NSNotFound
    }

    /// The same object, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    private func items(_ identifier: Any) -> [NSManagedObjectID] {
        guard let section = section(identifier) else {
            programmerError(
                "NSDiffableDataSourceSnapshotReference", "there is no section of the identifier",
                "Use one of sectionIdentifiers")
        }
        return sections[section].items
    }

    /// Sections are told apart as the store tells texts apart, by their scalars.
    private func section(_ identifier: Any) -> Int? {
        guard let name = identifier as? String else { return nil }
        return sections.firstIndex { $0.name.isExactly(name) }
    }
}
