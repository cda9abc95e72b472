internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// What saves opening from looking at every file: the store's identity, the newest checkpoint and how far the log is
/// known to be durable.
///
/// A cache with two slots of 512 bytes at offsets 0 and 4096, written in turn; the valid one with the higher number
/// counts. Lost or damaged, it is rebuilt from the log.
///
/// | offset in slot | bytes | what |
/// |---|---|---|
/// | 0 | 8 | "STRAMAN1" |
/// | 8 | 8 | number of this writing |
/// | 16 | 16 | store UUID |
/// | 32 | 4 | newest segment |
/// | 36 | 4 | newest checkpoint, 0 for none |
/// | 40 | 4 | segment up to which the log is durable |
/// | 44 | 4 | reserved, 0 |
/// | 48 | 8 | offset in it up to which the log is durable |
/// | 56 | 4 | CRC-32C of the 56 bytes before |
struct Manifest: Hashable {
    static let magic: [UInt8] = Array("STRAMAN1".utf8)
    static let slotByteCount = 512
    static let slotOffsets: [Int64] = [0, 4096]

    var number: UInt64
    var storeUUID: StoreUUID
    var segment: UInt32
    var checkpoint: UInt32
    var durable: LogPosition

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.slotByteCount)
        writer.append(bytes: Self.magic)
        writer.append(number)
        writer.append(storeUUID.high)
        writer.append(storeUUID.low)
        writer.append(segment)
        writer.append(checkpoint)
        writer.append(durable.segment)
        writer.append(UInt32(0))
        writer.append(UInt64(durable.offset))
        writer.append(writer.bytes.withUnsafeBytes { checksum($0) })
        writer.pad(toMultipleOf: Self.slotByteCount)
        return writer.bytes
    }

    init(number: UInt64, storeUUID: StoreUUID, segment: UInt32, checkpoint: UInt32, durable: LogPosition) {
        self.number = number
        self.storeUUID = storeUUID
        self.segment = segment
        self.checkpoint = checkpoint
        self.durable = durable
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.prefix(8).elementsEqual(Self.magic) else { return nil }
        do {
            var reader = ByteReader(bytes, at: 8)
            number = try reader.read()
            storeUUID = StoreUUID(high: try reader.read(), low: try reader.read())
            segment = try reader.read()
            checkpoint = try reader.read()
            let durableSegment = try reader.read(UInt32.self)
            _ = try reader.read(UInt32.self)
            let offset = try reader.read(UInt64.self)
            let stored = try reader.read(UInt32.self)
            guard stored == checksum(UnsafeRawBufferPointer(rebasing: bytes[..<56])),
                offset <= UInt64(Location.segmentMaximumBytes), number < UInt64.max / 2
            else { return nil }
            durable = LogPosition(segment: durableSegment, offset: Int(offset))
        } catch {
            return nil
        }
    }

    /// The newest valid slot; nil when the file is missing or damaged.
    static func read(_ files: StoreFiles) -> Manifest? {
        guard let file = try? files.open(files.manifest, .read) else { return nil }
        defer { try? file.close() }
        var newest: Manifest?
        for offset in slotOffsets {
            var bytes = [UInt8](repeating: 0, count: slotByteCount)
            let isRead = try? bytes.withUnsafeMutableBytes { try file.readAll(into: $0, at: offset) }
            guard isRead == true, let slot = bytes.withUnsafeBytes({ Manifest($0) }) else { continue }
            if slot.number > newest?.number ?? 0 { newest = slot }
        }
        return newest
    }

    /// Writes and flushes the slot that the number selects, leaving the other as it is.
    func write(_ files: StoreFiles) throws(StoreError) {
        let isNew = try io("look for", files.manifest) { () throws(Errno) in
            try files.attributes(files.manifest) == nil
        }
        try io("write", files.manifest) { () throws(Errno) in
            let file = try files.open(files.manifest, .createIfMissing)
            let bytes = encoded()
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            defer { memory.deallocate() }
            memory.copyBytes(from: bytes)
            try file.writeAll([UnsafeRawBufferPointer(memory)], at: Self.slotOffsets[Int(number % 2)])
            if isNew {
                try file.sync()
                try file.close()
                try files.sync()
            } else {
                try file.syncData()
                try file.close()
            }
        }
    }
}
