internal import StrataIO
internal import StrataLog

/// The slot of the store that is shipped, and what of it is in the file beside the store.
struct SlotKeeper: Sendable {
    private(set) var slot: ShipSlot
    /// Whether the store had none for this bucket.
    private(set) var isNew: Bool
    /// What the file says; nil where there is none.
    private var written: ShipSlot?
    private var earlier: [ShipSlot.Earlier]
    private let scanner: LogScanner
    private let fileSystem: any FileSystem
    private let calls: BlockingCalls

    /// Reads the slot of a bucket.
    ///
    /// - Throws: `.local`: there may be one.
    init(
        _ scanner: LogScanner, _ fileSystem: any FileSystem, _ objects: ShipBucket, _ calls: BlockingCalls,
        _ options: ShipOptions
    ) async throws(ShipError) {
        let (bucket, description) = (objects.identity, objects.description)
        let (directory, uuid) = (scanner.directory, scanner.storeUUID)
        let (own, earlier) = try await calls.run { () throws(StoreError) in
            ShipSlot.sweep(besideStoreAt: directory, bucket: bucket, in: fileSystem)
            let found = try ShipSlot.read(besideStoreAt: directory, bucket: bucket, in: fileSystem)
            let earlier = try ShipSlot.earlier(
                besideStoreAt: directory, storeUUID: uuid, description: description, bucket: bucket, in: fileSystem)
            return (found?.storeUUID == uuid ? found : nil, earlier)
        }
        (self.scanner, self.fileSystem, self.calls) = (scanner, fileSystem, calls)
        self.earlier = earlier
        (written, isNew) = (own, own == nil)
        slot =
            own
            ?? ShipSlot(
                storeUUID: uuid, line: EpochLead.randomName(), segment: 0, maximumBytes: options.slotMaximumBytes,
                bucket: bucket, hasShipped: false)
        slot.maximumBytes = options.slotMaximumBytes
    }

    /// The segment that the log in the bucket ends in, as far as that is known without asking it.
    var segment: UInt32 { written?.segment ?? earlier.first?.slot.segment ?? 0 }

    /// Whether compaction waits for this shipper.
    var isWaitedFor: Bool { (written ?? earlier.first?.slot)?.hasShipped ?? false }

    /// Gives the slot the name of now, if it has that of a version before.
    ///
    /// - Throws: `.missing` if there is such a slot and nothing in the bucket; `.store`.
    mutating func adoptEarlier(_ objects: ShipBucket) async throws(ShipError) {
        guard let first = earlier.first else { return }
        if written == nil {
            guard let head = try await ShippedLog.head(objects)?.head else {
                throw ShipError(
                    .missing,
                    "the file \(first.path) says that this store has been shipped to \(objects.description), and nothing is there "
                        + "any more: it was emptied, or is not the one that it was; a directory may not be mounted. If "
                        + "that was a bucket of another server, ship to it first. To begin a new log here, remove the file",
                    key: ShipKey.head)
            }
            let lines = Set(head.epochs.map(\.line))
            guard let owned = earlier.first(where: { lines.contains($0.slot.line) }) else { return }
            isNew = false
            let maximumBytes = slot.maximumBytes
            slot = owned.slot
            (slot.bucket, slot.maximumBytes) = (ShipSlot.name(ofBucket: objects.identity), maximumBytes)
            // Where nothing may be written, it keeps its file, and counts.
            guard (try? await write()) != nil else { return }
        }
        let (fileSystem, own) = (fileSystem, earlier.filter { $0.slot.line == slot.line })
        try await calls.run { () throws(StoreError) in for slot in own { slot.remove(in: fileSystem) } }
    }

    /// Says how far the store has been shipped.
    ///
    /// - Throws: `.local`: the file says what it said before.
    mutating func write(
        segment: UInt32, hasShipped: Bool, release: ShipSlot.Release? = nil
    ) async throws(ShipError) {
        (slot.segment, slot.hasShipped, slot.release) = (segment, hasShipped, release)
        try await write()
    }

    private mutating func write() async throws(ShipError) {
        guard slot != written else { return }
        let (slot, directory, fileSystem) = (slot, scanner.directory, fileSystem)
        try await calls.run { () throws(StoreError) in try slot.write(besideStoreAt: directory, in: fileSystem) }
        written = slot
    }
}
