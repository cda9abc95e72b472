/// The bytes of a block. They become readable once the place where they will lie is stamped in.
package struct EncodedBlock: Sendable {
    /// Where the bytes hold an external value whose place was not known when the row was written.
    struct Patch: Sendable {
        var position: Int
        var number: UInt32
    }

    /// A chunk whose checksum changes when external values are filled in.
    struct PatchedChunk: Sendable {
        /// Where its checksum is kept.
        var checksumPosition: Int
        var start: Int
        var count: Int
    }

    package private(set) var bytes: [UInt8]
    package let entity: UInt16
    package let rowCount: Int
    private let patches: [Patch]
    private let patchedChunks: [PatchedChunk]
    private var isPatched: Bool

    init(bytes: [UInt8], entity: UInt16, rowCount: Int, patches: [Patch], patchedChunks: [PatchedChunk]) {
        self.bytes = bytes
        self.entity = entity
        self.rowCount = rowCount
        self.patches = patches
        self.patchedChunks = patchedChunks
        isPatched = patches.isEmpty
    }

    /// A multiple of 64.
    package var byteCount: Int { bytes.count }

    /// Few rows, which are read where they lie.
    var isPlain: Bool { flags.contains(.plain) }

    /// Whether a value lies out of line. Only of a plain block.
    var hasExternals: Bool { flags.contains(.externals) }

    private var flags: BlockFormat.BlockFlags {
        bytes.withUnsafeBytes { bytes in
            BlockFormat.BlockFlags(rawValue: bytes.load(fromByteOffset: BlockFormat.Header.flags, as: UInt16.self))
        }
    }

    /// Some values were set as ``ExternalValue/pending(number:byteCount:)``.
    package var hasPendingExternals: Bool { !patches.isEmpty }

    /// Fills in where the transaction's large values lie, by number. Can be repeated with other places.
    package mutating func patchExternals(_ value: (UInt32) -> ExternalValue) {
        guard !patches.isEmpty else { return }
        isPatched = true
        bytes.withUnsafeMutableBytes { buffer in
            let start = buffer.baseAddress!
            for patch in patches { value(patch.number).write(to: start + patch.position) }
            for chunk in patchedChunks {
                let crc = checksum(start + chunk.start, count: chunk.count)
                start.storeBytes(of: crc, toByteOffset: chunk.checksumPosition, as: UInt32.self)
            }
        }
    }

    /// Fills in the transaction's sequence number and the checksum that ties the block to its place. Can be repeated
    /// with another place.
    ///
    /// - Complexity: O(slots).
    /// - Precondition: the place's offset is a multiple of 64; pending external values are patched.
    package mutating func stamp(at address: LogAddress) {
        precondition(address.offset % Location.alignmentBytes == 0 && address.offset < Location.segmentMaximumBytes)
        precondition(isPatched, "external values whose address is not known")
        typealias Field = BlockFormat.Header
        let flags = flags
        bytes.withUnsafeMutableBytes { buffer in
            let start = buffer.baseAddress!
            start.storeBytes(of: address.sequence, toByteOffset: Field.sequence, as: UInt64.self)
            var columns = 0
            if !flags.contains(.plain) {
                columns = Int(start.load(fromByteOffset: Field.slotCount, as: UInt16.self))
                columns += (flags.contains(.keys) ? 1 : 0) + (flags.contains(.sequences) ? 1 : 0)
            }
            let crc = BlockHeader.checksum(
                start, headerByteCount: BlockFormat.headerBytes + columns * BlockFormat.descriptorBytes,
                address: address)
            start.storeBytes(of: crc, toByteOffset: Field.checksum, as: UInt32.self)
        }
    }
}
