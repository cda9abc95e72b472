import Foundation

/// A model as Apple's compiler writes it (".mom") and as Core Data keeps it in its stores: a keyed archive.
///
/// The archive is walked as a property list, so nothing of it is executed, and every predicate and expression becomes a
/// text.
package struct AppleModelFile {
    /// The model.
    package private(set) var document = ModelDocument()
    /// What the document cannot say, one sentence each.
    package private(set) var notes: [String] = []

    /// Whether bytes can be a compiled model of Apple's: a binary property list. Strata's own models are some, too.
    package static func canRead(_ bytes: [UInt8]) -> Bool {
        guard BinaryPropertyList.isOne(bytes), let archive = try? KeyedArchive(bytes) else { return false }
        return (try? archive.root().className) == "NSManagedObjectModel"
    }

    /// - Throws: ``ArchiveError`` for anything that is no model's archive, for a damaged one, and for predicates and
    ///   expressions without a text, with the place.
    package init(_ bytes: [UInt8]) throws {
        let root = try KeyedArchive(bytes).root()
        guard root.className == "NSManagedObjectModel" else {
            throw ArchiveError("the archive holds no model but a \(root.className)")
        }
        for identifier in try root.elements("NSVersionIdentifiers") {
            if let text = try identifier.text() { document.versionIdentifiers.append(text) }
        }
        document.versionIdentifiers.sort()
        try readEntities(root)
        try readConfigurations(root)
        for entry in try root.entries("NSFetchRequestTemplates") {
            guard case .object(let request) = entry.value else { continue }
            document.fetchRequests.append(
                try Self.naming("the fetch request template \(entry.key)") {
                    try ArchivedFetchRequest.read(request, name: entry.key)
                })
        }
        document.fetchRequests.sort { $0.name < $1.name }
    }

    private mutating func readEntities(_ root: ArchivedObject) throws {
        var objects: [String: ArchivedObject] = [:]
        for entry in try root.entries("NSEntities") {
            guard case .object(let object) = entry.value else { continue }
            objects[entry.key] = object
        }
        var reader = ArchivedEntityReader(entities: objects)
        for name in objects.keys.sorted() { document.entities.append(try reader.entity(name)) }
        document.composites = reader.composites.values.sorted { $0.name < $1.name }
        notes += reader.notes
    }

    private mutating func readConfigurations(_ root: ArchivedObject) throws {
        for entry in try root.entries("NSConfigurations") {
            guard case .object(let members) = entry.value else { continue }
            var configuration = ModelDocument.Configuration(name: entry.key)
            for member in try members.elements() {
                if case .object(let entity) = member, let name = try entity.string("NSEntityName") {
                    configuration.entityNames.append(name)
                } else if let name = try member.text() {
                    configuration.entityNames.append(name)
                }
            }
            configuration.entityNames.sort()
            // The default configuration has every entity and is never written down in a document.
            if entry.key != "PF_DEFAULT_CONFIGURATION_NAME" { document.configurations.append(configuration) }
        }
        document.configurations.sort { $0.name < $1.name }
    }

    /// Says where an error was.
    static func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as ArchiveError {
            throw ArchiveError("\(path): \(error.description)")
        }
    }
}

/// Archived fetch requests as a document has them.
enum ArchivedFetchRequest {
    /// The bits of "NSFetchRequestFlags" as Core Data's defaults set them: 30 is what a new request has.
    private enum Flag {
        static let distinct = 1
        static let subentities = 2
        static let propertyValues = 4
        static let faults = 8
        static let pendingChanges = 16
        static let refreshes = 32
    }

    /// - Parameter entityName: used if the request does not say which entity it fetches.
    static func read(
        _ object: ArchivedObject, name: String, entityName: String? = nil
    ) throws -> ModelDocument.FetchRequest {
        let entity =
            try object.object("NSEntity")?.string("NSEntityName") ?? object.string("NSEntityName") ?? entityName
        var request = ModelDocument.FetchRequest(name: name, entityName: entity ?? "")
        if let predicate = try object.object("NSPredicate") {
            request.predicate = try ArchivedPredicate.format(predicate)
        }
        if let predicate = try object.object("NSHavingPredicate") {
            request.havingPredicate = try ArchivedPredicate.format(predicate)
        }
        for sort in try object.objects("NSSortDescriptors") {
            guard let key = try sort.string("NSKey") else { throw ArchiveError("a sort descriptor has no key") }
            let selector = try sort.string("NSSelector")
            request.sorts.append(
                ModelDocument.Sort(
                    key: key, isAscending: try sort.flag("NSAscending"),
                    selectorName: selector == "compare:" ? nil : selector))
        }
        request.resultType = try object.integer("NSResultType") ?? 0
        request.fetchLimit = try max(0, object.integer("NSFetchLimit") ?? 0)
        request.fetchOffset = try max(0, object.integer("NSFetchOffset") ?? 0)
        request.fetchBatchSize = try max(0, object.integer("NSBatchSize") ?? 0)
        request.propertiesToFetch = try names(object, "NSValuesToFetch")
        request.propertiesToGroupBy = try names(object, "NSValuesToGroupBy")
        request.prefetchedKeyPaths = try names(object, "NSRelationshipKeyPathsForPrefetching")
        if try object.flag("NSHasFetchRequestFlags"), let flags = try object.integer("NSFetchRequestFlags") {
            request.returnsDistinctResults = flags & Flag.distinct != 0
            request.includesSubentities = flags & Flag.subentities != 0
            request.includesPropertyValues = flags & Flag.propertyValues != 0
            request.returnsObjectsAsFaults = flags & Flag.faults != 0
            request.includesPendingChanges = flags & Flag.pendingChanges != 0
            request.refreshesRefetchedObjects = flags & Flag.refreshes != 0
        }
        return request
    }

    /// Properties by name; an archive has texts or the descriptions themselves.
    private static func names(_ object: ArchivedObject, _ key: String) throws -> [String]? {
        let elements = try object.elements(key)
        guard !elements.isEmpty else { return nil }
        var names: [String] = []
        for element in elements {
            if case .object(let property) = element, let name = try property.string("NSPropertyName") {
                names.append(name)
            } else if let name = try element.text() {
                names.append(name)
            } else {
                throw ArchiveError("'\(key)' names something that is no property")
            }
        }
        return names
    }
}
