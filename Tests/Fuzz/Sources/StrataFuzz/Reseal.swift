@testable import StrataLog

/// Makes checksums right again after a mutation, as a forger would, so that inputs get past them into the decoders.
enum Reseal {
    static func word(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    static func put(_ value: UInt32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) {
        bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    static func checksum(_ bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> UInt32 {
        StrataLog.checksum(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// The chunks' checksums, the payload's and the header's.
    static func block(_ bytes: UnsafeMutableRawBufferPointer, at address: LogAddress) {
        guard bytes.count >= BlockFormat.headerBytes, let start = bytes.baseAddress else { return }
        let flags = BlockFormat.BlockFlags(
            rawValue: bytes.loadUnaligned(fromByteOffset: BlockFormat.Header.flags, as: UInt16.self))
        let slots = Int(bytes.loadUnaligned(fromByteOffset: BlockFormat.Header.slotCount, as: UInt16.self))
        let internals = (flags.contains(.keys) ? 1 : 0) + (flags.contains(.sequences) ? 1 : 0)
        let columns = flags.contains(.plain) ? 0 : slots + internals
        let headerEnd = BlockFormat.headerBytes + columns * BlockFormat.descriptorBytes
        guard headerEnd <= bytes.count else { return }
        let payload = word(bytes, BlockFormat.Header.payloadLength)
        if payload <= bytes.count - BlockFormat.headerBytes {
            put(
                checksum(bytes, BlockFormat.headerBytes..<BlockFormat.headerBytes + payload), bytes,
                BlockFormat.Header.payloadChecksum)
        }
        for column in 0..<columns {
            let position = BlockFormat.headerBytes + column * BlockFormat.descriptorBytes
            let offset = word(bytes, position + BlockFormat.Descriptor.offset)
            let length = word(bytes, position + BlockFormat.Descriptor.storedLength)
            guard offset >= headerEnd, offset <= bytes.count, length <= bytes.count - offset else { continue }
            put(checksum(bytes, offset..<offset + length), bytes, position + BlockFormat.Descriptor.checksum)
        }
        var address = address
        address.sequence = bytes.loadUnaligned(fromByteOffset: BlockFormat.Header.sequence, as: UInt64.self)
        put(
            BlockHeader.checksum(start, headerByteCount: headerEnd, address: address), bytes,
            BlockFormat.Header.checksum)
    }

    static func largeValue(_ bytes: UnsafeMutableRawBufferPointer, at address: LogAddress) {
        guard bytes.count >= LargeValue.headerByteCount else { return }
        let length = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        let header = LargeValue.headerByteCount
        if length <= UInt64(bytes.count - header) { put(checksum(bytes, header..<header + Int(length)), bytes, 24) }
        put(address.withoutSequence.checksum(continuing: checksum(bytes, 0..<32)), bytes, 32)
    }

    /// The pieces of a record, its footer, its body and its header. Returns the footer's checksum.
    @discardableResult
    static func record(_ bytes: UnsafeMutableRawBufferPointer, at address: LogAddress) -> UInt32 {
        guard bytes.count >= RecordHeader.byteCount + RecordFooter.byteCount else { return 0 }
        var address = address
        address.sequence = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let bodyCount = word(bytes, 28)
        let bodyStart = RecordHeader.byteCount
        var checksums: [UInt32] = [0]
        if bodyCount <= bytes.count - bodyStart - RecordFooter.byteCount {
            let body = bodyStart..<bodyStart + bodyCount
            put(checksum(bytes, body), bytes, 56)
            if bytes[4] == RecordHeader.Kind.transaction.rawValue,
                let parsed = try? TransactionBody(UnsafeRawBufferPointer(rebasing: bytes[body]))
            {
                pieces(of: parsed, bytes, from: (body.upperBound + 63) / 64 * 64, address, &checksums)
            }
        }
        put(address.checksum(continuing: checksum(bytes, 0..<60)), bytes, 60)
        checksums[0] = UInt32(word(bytes, 60))
        let crc = RecordFooter.checksum(ofPieces: checksums)
        let footer = RecordFooter.encoded(recordByteCount: word(bytes, 24), checksum: crc)
        UnsafeMutableRawBufferPointer(rebasing: bytes[(bytes.count - RecordFooter.byteCount)...])
            .copyBytes(from: footer)
        return crc
    }

    private static func pieces(
        of body: TransactionBody, _ bytes: UnsafeMutableRawBufferPointer, from start: Int, _ address: LogAddress,
        _ checksums: inout [UInt32]
    ) {
        var position = start
        let end = bytes.count - RecordFooter.byteCount
        func next(_ byteCount: Int) -> (UnsafeMutableRawBufferPointer, LogAddress)? {
            guard byteCount >= 64, position <= end, byteCount <= end - position else { return nil }
            defer { position += byteCount }
            var at = address
            at.offset += position
            return (UnsafeMutableRawBufferPointer(rebasing: bytes[position..<position + byteCount]), at)
        }
        for piece in body.blocks {
            guard let (bytes, address) = next(piece.byteCount) else { return }
            block(bytes, at: address)
            checksums.append(UInt32(word(bytes, BlockFormat.Header.checksum)))
        }
        for byteCount in body.largeValueByteCounts {
            guard let (bytes, address) = next(byteCount) else { return }
            largeValue(bytes, at: address)
            checksums.append(UInt32(word(bytes, 32)))
        }
    }

    static func segmentHeader(_ bytes: UnsafeMutableRawBufferPointer) {
        guard bytes.count >= SegmentHeader.byteCount else { return }
        put(checksum(bytes, 0..<60), bytes, 60)
    }

    /// The header and every record that can be found by walking the lengths.
    static func segment(_ bytes: UnsafeMutableRawBufferPointer, number: UInt32) {
        guard bytes.count >= SegmentHeader.byteCount else { return }
        segmentHeader(bytes)
        let uuid = StoreUUID(
            high: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            low: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        var previous = UInt32(word(bytes, 56))
        var offset = SegmentHeader.byteCount
        while offset + RecordHeader.byteCount + RecordFooter.byteCount <= bytes.count {
            let byteCount = word(bytes, offset + 24)
            guard word(bytes, offset) == Int(RecordHeader.magic), byteCount >= 80, byteCount % 64 == 0,
                byteCount <= bytes.count - offset
            else { return }
            put(previous, bytes, offset + 36)
            previous = record(
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + byteCount]),
                at: LogAddress(storeUUID: uuid, segment: number, offset: offset, sequence: 0))
            offset += byteCount
        }
    }
}
