internal import StrataIO
internal import SystemPackage

/// Files without names for sorted entries, beside the store's: each goes with the last list that reads it, and with the
/// process. Nothing is written any more when the store is closed.
struct OrderedScratch {
    /// A name is taken for a moment, unless the process dies in it: the next opening for writing removes it.
    private static let attempts: UInt32 = 64

    private let definition: OrderedIndexDefinition
    private let store: LogStore
    private var files: StoreFiles { store.files }

    init(_ definition: OrderedIndexDefinition, of store: LogStore) {
        self.definition = definition
        self.store = store
    }

    /// Several lists as one: in a file, or in memory if it cannot be written (the disk is full, or out of order).
    ///
    /// - Throws: `.io` and `.corruption` when one of the lists cannot be read; `.closed` when it is not to go on.
    func orMemory(_ lists: [OrderedList], residentMaximumByteCount: Int) throws(StoreError) -> OrderedList {
        do throws(StoreError) {
            return try write(lists, residentMaximumByteCount)
        } catch {
            guard error.code == .io else { throw error }
            return try OrderedMerge.merged(lists)
        }
    }

    private func write(_ lists: [OrderedList], _ residentMaximumByteCount: Int) throws(StoreError) -> OrderedList {
        let (file, path) = try store.makingFiles { () throws(StoreError) in try create() }
        do throws(StoreError) {
            let sink = ScratchSink(file, path, of: store)
            let writer = OrderedSectionWriter(sink, definition, isInexact: lists.contains { $0.isInexact })
            try writer.append(contentsOf: OrderedMerge(lists))
            let section = try writer.finish()
            let pages = CheckpointPages(file: file, path: path, files: nil)
            return try OrderedIndex.loadList(
                section, from: pages, residentMaximumByteCount: residentMaximumByteCount
            ).1
        } catch {
            try? file.close()
            throw error
        }
    }

    /// A new file whose name is gone already.
    private func create() throws(StoreError) -> (any File, FilePath) {
        var number = UInt32.max
        while true {
            let path = files.unfinishedCheckpoint(number)
            do throws(StoreError) {
                let file = try io("create", path) { () throws(Errno) in try files.open(path, .create) }
                do throws(StoreError) {
                    try io("remove", path) { () throws(Errno) in try files.remove(path) }
                } catch {
                    try? file.close()
                    throw error
                }
                return (file, path)
            } catch {
                // What another process has left, and could not be removed.
                guard error.errno == .fileExists, number > UInt32.max - Self.attempts else { throw error }
                number -= 1
            }
        }
    }
}

/// Appends to a file that nobody needs after a crash.
private final class ScratchSink: CheckpointSink {
    private let file: any File
    private let path: FilePath
    private let store: LogStore
    private(set) var position: Int64 = 0

    init(_ file: any File, _ path: FilePath, of store: LogStore) {
        self.file = file
        self.path = path
        self.store = store
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        if store.isClosed { throw store.refusal }
        try io("write", path) { () throws(Errno) in try file.writeAll([bytes], at: position) }
        position += Int64(bytes.count)
    }
}
