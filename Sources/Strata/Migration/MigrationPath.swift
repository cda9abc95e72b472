import Foundation

/// What leads from a store's model to the one that it is opened with.
struct MigrationPath {
    let source: NSManagedObjectModel
    let match: ModelMatch
    /// Of the program's own; nil for one to be inferred.
    let mapping: NSMappingModel?

    /// - Parameter path: where the store is, for errors.
    /// - Throws: `CocoaError` 134140 when there is no mapping, 134190 when none can be inferred.
    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, infers: Bool, path: String) throws {
        self.source = source
        match = ModelMatch(source, destination)
        let search = MappingSearch(nil, from: source, to: destination)
        mapping = search.found
        guard mapping == nil else { return }
        let passedOver = search.problems.isEmpty ? "" : " Passed over: \(search.problems.joined(separator: "; "))."
        guard infers else {
            let difference = "\(ModelDifference(source, destination))"
            throw Self.error(
                .migrationMissingMappingModel,
                "There is no mapping model, and none is to be inferred (NSInferMappingModelAutomaticallyOption). "
                    + "What differs: \(difference).\(passedOver)", path,
                ["sourceModel": source, "destinationModel": destination])
        }
        let obstacles = match.obstacles
        guard obstacles.isEmpty else {
            let text = "No mapping can be inferred: \(obstacles.joined(separator: "; ")).\(passedOver)"
            throw Self.error(
                .migrationMissingMappingModel, text, path,
                [
                    "sourceModel": source, "destinationModel": destination,
                    NSUnderlyingErrorKey: Self.error(.inferredMappingModel, text, path),
                ])
        }
    }

    /// - Parameter info: what a program may ask the error for besides.
    static func error(
        _ code: CocoaError.Code, _ text: String, _ path: String, _ info: [String: Any] = [:]
    ) -> any Error {
        let texts: [String: Any] = [NSLocalizedDescriptionKey: text, NSFilePathErrorKey: path, "reason": text]
        return DescribedError(code, userInfo: info.merging(texts) { _, text in text })
    }

    /// Makes a store of the newer model, object by object.
    ///
    /// - Parameters:
    ///   - configuration: the entities that it is to hold; nil for all.
    ///   - options: those that the program opens the store with.
    ///   - reservation: keeps others away from the source; nil for a store that is no log.
    ///   - metadata: the program's own entries are taken over.
    func copy(
        from url: URL, to copy: URL, type: String, configuration: String?, options: [AnyHashable: Any],
        reservation: SharedLogs.Reservation? = nil, metadata: [String: Any], destination: NSManagedObjectModel
    ) throws {
        let mapping =
            try self.mapping
            ?? NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        var options = options
        for key in [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey, StrataHistoryRetentionOption,
        ] { options[key] = nil }
        var sourceOptions = options
        sourceOptions[MigrationOptions.reservationOption] = reservation
        // Nobody sees a log before it is complete, and closing it flushes it.
        if reservation != nil { options[StrataDurabilityOption] = "os" }
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrate(
            from: MigrationEnd.Address(url: url, type: type, options: sourceOptions), with: mapping,
            to: MigrationEnd.Address(
                url: copy, type: type, options: options, configuration: configuration,
                metadata: metadata.filter { !StoreMetadata.systemKeys.contains($0.key) }))
    }
}
