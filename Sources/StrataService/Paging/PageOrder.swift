import Foundation
import Strata
import StrataSupport

/// The order of a request: its keys, then the number of the object, in ascending order whatever the keys' directions.
struct PageOrder {
    let entity: NSEntityDescription
    let keys: [PageKey]
    /// What the URIs of the store's objects begin with.
    private let store: String
    private let digest: UInt64

    init(_ entity: NSEntityDescription, _ sorts: [NSSortDescriptor], store: String) throws {
        self.entity = entity
        keys = try sorts.map { try PageKey($0, entity) }
        self.store = store
        let parts = [store, entity.name ?? ""] + keys.flatMap { [$0.path, "\($0.kind.rawValue)\($0.isAscending)"] }
        // It tells the requests of a program apart; nobody gains anything by two that are alike.
        digest = FNV.digest(parts.joined(separator: "\u{0}").utf8)
    }

    // MARK: Predicates

    /// The objects with the same values for all keys.
    func equal(_ values: [PageValue]) -> [NSPredicate] { zip(keys, values).map { $0.equal($1) } }

    /// The objects that differ from a place first in one key, and come behind it, or before it: in parts that follow
    /// each other.
    func beyond(_ level: Int, _ values: [PageValue], isForward: Bool) -> [[NSPredicate]] {
        keys[level].beyond(values[level], isForward: isForward).map { part in
            zip(keys[..<level], values).map { $0.equal($1) } + [part]
        }
    }

    /// - Parameter level: the keys before it are the same for all objects that are asked for.
    func sorts(from level: Int, isForward: Bool) -> [NSSortDescriptor] {
        keys[level...].map { NSSortDescriptor(key: $0.path, ascending: $0.isAscending == isForward) }
    }

    // MARK: Cursors

    /// A place in the order: that of an object.
    struct Place {
        let id: NSManagedObjectID
        let values: [PageValue]
    }

    func cursor(_ place: Place, isForward: Bool, isInclusive: Bool = false) throws -> StrataPageCursor {
        if place.id.isTemporaryID {
            throw StrataPageError(
                .unsavedObject,
                "A page of \(entity.name ?? "") begins or ends with an object that is not saved: save before fetching a"
                    + " page, or set includesPendingChanges to false.")
        }
        let number = place.id.uriRepresentation().lastPathComponent.dropFirst()
        var bytes = PageBytes.bytes(of: UInt64(number) ?? 0)
        for value in place.values { value.append(to: &bytes) }
        let cursor = StrataPageCursor(isForward: isForward, isInclusive: isInclusive, digest: digest, place: bytes)
        guard cursor.description.utf8.count <= StrataPageCursor.textLengthMaximum else {
            throw StrataPageError(
                .valueTooLong,
                "A sort key of \(place.id.uriRepresentation().absoluteString) is too long for a cursor, which has"
                    + " \(StrataPageCursor.textLengthMaximum) characters at most. The keys: \(description).")
        }
        return cursor
    }

    /// - Throws: ``StrataPageError`` for a cursor of another order, or one that was changed on its way.
    func place(_ cursor: StrataPageCursor, in coordinator: NSPersistentStoreCoordinator) throws -> Place {
        guard cursor.digest == digest else {
            throw StrataPageError(
                .foreignCursor,
                "The cursor is of another entity, order or store than the request, which asks for"
                    + " \(entity.name ?? "") ordered by \(description).")
        }
        let damage = StrataPageError(
            .damagedCursor, "The cursor has no place in \(entity.name ?? "") ordered by \(description).")
        var bytes = cursor.place[...]
        guard bytes.count >= 8 else { throw damage }
        let number = PageBytes.word(bytes.prefix(8))
        bytes = bytes.dropFirst(8)
        var values: [PageValue] = []
        for key in keys {
            guard let value = PageValue(key.kind, from: &bytes) else { throw damage }
            values.append(value)
        }
        // The object need not exist: a number is enough.
        guard bytes.isEmpty, let uri = URL(string: "\(store)/p\(number)"),
            let id = coordinator.managedObjectID(forURIRepresentation: uri)
        else { throw damage }
        return Place(id: id, values: values)
    }

    /// For messages.
    private var description: String {
        let names = keys.map { "\($0.path) \($0.isAscending ? "ascending" : "descending")" }
        return names.isEmpty ? "creation" : names.joined(separator: ", ")
    }
}
