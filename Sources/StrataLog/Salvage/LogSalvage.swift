public import StrataIO
public import SystemPackage

/// Saves what is readable of a damaged store into a new one.
///
/// Every sound record of every segment counts, also behind damage: its change table and those of its blocks that pass
/// their checksums. Manifest and checkpoints are not looked at. The damaged store is not changed.
public enum LogSalvage {
    /// Makes a new store of what can be read.
    ///
    /// - Parameters:
    ///   - path: the damaged store's directory. Nobody should be writing it.
    ///   - fileSystem: where both stores are.
    ///   - target: where the new store is made. Must be empty or missing.
    ///   - options: those that the new store is written with.
    ///   - metadata: what becomes of the object graph's own data about the store.
    ///   - progress: called now and then with the bytes done and all bytes, of reading and then of writing.
    /// - Returns: what was saved and what was not.
    /// - Throws: `.corruption` when there is nothing to begin with (no sound segment header, or no schema);
    ///   `.invalidArgument` when there is something at the target; `.io`.
    /// - Complexity: reads every byte of the log once and the newest rows again; memory for the index of all objects.
    public static func run(
        _ path: FilePath, in fileSystem: any FileSystem, to target: FilePath, options: LogOptions = LogOptions(),
        metadata: ([UInt8]) -> [UInt8] = { $0 }, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StoreError) -> SalvageReport {
        let files = try StoreFiles(fileSystem: fileSystem, directory: path).holding()
        var reader = try SalvageReader(files)
        try reader.run(progress)
        guard let schema = reader.storeState.schemas.last?.schema.standalone else {
            throw StoreError(.corruption, "no schema of the store can be read", path: path.string)
        }
        let directory = try StoreDirectory(target, fileSystem)
        if try directory.attributes(directory.path) != nil {
            let names = try io("list directory", target) { () throws(Errno) in try fileSystem.list(target) }
            guard names.isEmpty else {
                throw StoreError(.invalidArgument, "there is something already", path: target.string)
            }
        }
        let snapshot = try reader.snapshot()
        var report = reader.report
        do {
            // Under another name until it is complete: half of what can be saved must not pass for all of it.
            try directory.replace { path in
                let store = try LogStore.open(path, in: fileSystem, options: options, schema: schema)
                report = try write(snapshot, reader, to: store, metadata, progress)
            }
            return report
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, "the new store could not be made: \(error)", path: target.string)
        }
    }

    private static func write(
        _ snapshot: Snapshot, _ reader: SalvageReader, to store: LogStore, _ metadata: ([UInt8]) -> [UInt8],
        _ progress: (Int, Int) -> Void
    ) throws(StoreError) -> SalvageReport {
        do throws(StoreError) {
            var writer = SalvageWriter(snapshot: snapshot, store: store, report: reader.report)
            try writer.run(nextKeys: reader.storeState.nextKeys, progress)
            let kept = metadata(reader.storeState.metadata)
            if !kept.isEmpty { try store.setMetadata(kept) }
            try store.close()
            return writer.report
        } catch {
            try? store.close()
            throw error
        }
    }
}
