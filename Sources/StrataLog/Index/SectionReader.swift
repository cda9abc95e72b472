/// Reads an index's directory from a checkpoint: checked against its checksum, then field by field within its bounds.
struct SectionReader {
    /// Read in steps of this size, so that a damaged length fails at the end of the file and not as an allocation.
    private static let stepByteCount = 32 << 20

    let section: CheckpointSection
    private let bytes: [UInt8]
    private var position = 0
    private let end: Int

    init(_ section: CheckpointSection, from source: any PageSource, of what: String) throws(StoreError) {
        guard section.offset >= 0, section.byteCount >= 4,
            !section.offset.addingReportingOverflow(Int64(section.byteCount)).overflow
        else {
            throw .damagedCheckpoint("the directory of \(what) has impossible bounds", offset: section.offset)
        }
        var bytes: [UInt8] = []
        while bytes.count < section.byteCount {
            let start = section.offset + Int64(bytes.count)
            let step = try Self.read(min(Self.stepByteCount, section.byteCount - bytes.count), at: start, from: source)
            if bytes.isEmpty { bytes = step } else { bytes += step }
        }
        self.section = section
        self.bytes = bytes
        end = bytes.count - 4
        let (found, expected) = bytes.withUnsafeBytes { bytes in
            (
                PageChecksum.of(UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self))
            )
        }
        guard found == expected else {
            throw .damagedCheckpoint(
                "the directory of \(what) has checksum \(found), expected \(expected)", offset: section.offset)
        }
    }

    private static func read(
        _ count: Int, at offset: Int64, from source: any PageSource
    ) throws(StoreError) -> [UInt8] {
        var failure: StoreError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            do throws(StoreError) {
                try source.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]),
                    at: offset)
                initializedCount = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    var remainingByteCount: Int { end - position }

    mutating func next<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(StoreError) -> T {
        guard remainingByteCount >= MemoryLayout<T>.size else { throw damaged("it ends too early") }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: T.self) }
        position += MemoryLayout<T>.size
        return T(littleEndian: value)
    }

    /// Hands out what is left, once for many fields of the same shape, and passes over it.
    mutating func rest<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        defer { position = end }
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[position..<end])) }
    }

    mutating func bytes(_ count: Int) throws(StoreError) -> [UInt8] {
        guard remainingByteCount >= count else { throw damaged("it ends too early") }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    func damaged(_ why: String) -> StoreError {
        .damagedCheckpoint("a directory is malformed: \(why)", offset: section.offset + Int64(position))
    }
}
