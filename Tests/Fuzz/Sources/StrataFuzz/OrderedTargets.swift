@testable import StrataLog

/// The sections of ordered indexes in a checkpoint, and their blocks.
enum OrderedTargets {
    static let definition = OrderedIndexDefinition(
        root: 2, entities: [2],
        elements: [.init(slot: 1, kind: .int16), .init(slot: 0, kind: .string, isDescending: true)],
        filter: .not(.within(slot: 3, kind: .bool, ranges: [OrderedRange(prefix: OrderedKey.null)])))

    static let all = [
        FuzzTarget("ordered-index", maximumByteCount: 8192, seeds: { try indexes() }) { index($0, reseals: false) },
        FuzzTarget("ordered-index-resealed", maximumByteCount: 8192, seeds: { try indexes() }) {
            index($0, reseals: true)
        },
        FuzzTarget("ordered-block", maximumByteCount: 8192, seeds: { blocks() }) { input in
            guard let block = input.withUnsafeBytes({ OrderedBlockCoding.decode($0) }) else { return }
            let entries = (0..<block.count).map { Array(block.entry($0)) }
            precondition(input.withUnsafeBytes { OrderedBlockCoding.decode($0) }?.count == entries.count)
            let again = encoded(entries)
            precondition(again.withUnsafeBytes { OrderedBlockCoding.decode($0) }?.count == entries.count)
        },
    ]

    private static func batch(_ count: Int) -> OrderedBatch {
        let batch = OrderedBatch()
        for key in 1...UInt64(count) {
            batch.reserve(40)
            batch.put(1, UInt8(truncatingIfNeeded: key % 7))
            batch.put(bigEndian: key &* 0x9E37_79B9)
            batch.end(ObjectRef(entity: 2, key: key), isRemoval: false)
        }
        return batch
    }

    private static func encoded(_ entries: [[UInt8]]) -> [UInt8] {
        var encoder = OrderedBlockEncoder()
        for entry in entries { entry.withUnsafeBytes { encoder.append($0) } }
        encoder.finish()
        return encoder.bytes
    }

    private static func blocks() -> [[UInt8]] {
        [1, 20, 200].map { count in
            encoded((0..<count).map { Array("an entry \(1000 + $0 * 3)".utf8) })
        }
    }

    private static func indexes() throws -> [[UInt8]] {
        try [1, 20, 300].map { count in
            let index = OrderedIndex(definition, lineage: .init(), base: batch(count).sorted())
            let sink = IndexTestSink()
            return CheckpointTargets.input(sink, try index.encode(into: sink))
        }
    }

    private static func index(_ input: [UInt8], reseals: Bool) {
        guard var (section, bytes) = CheckpointTargets.section(input) else { return }
        if reseals { bytes.withUnsafeMutableBytes { reseal($0, section) } }
        section.byteCount = bytes.count - Int(section.offset)
        guard let index = try? OrderedIndex.load(section, from: IndexTestSource(bytes)) else { return }
        probe(index)
    }

    static func probe(_ index: OrderedIndex) {
        for range in [OrderedRange.all, OrderedRange(prefix: [1, 3]), OrderedRange(lower: [0], upper: [1, 2, 3])] {
            _ = try? index.count(in: range)
            for descending in [false, true] { _ = try? index.forEach(in: range, descending: descending) { _ in true } }
        }
        _ = try? index.adding(batch(5).sorted()).encode(into: IndexTestSink())
        _ = try? index.encode(into: IndexTestSink())
    }

    /// The checksums of the blocks that the directory names, and its own.
    static func reseal(_ bytes: UnsafeMutableRawBufferPointer, _ section: CheckpointSection) {
        let start = Int(section.offset)
        guard start >= 0, start <= bytes.count, section.byteCount >= 28, section.byteCount <= bytes.count - start else {
            return
        }
        let end = start + section.byteCount - 4
        let definitionByteCount = Reseal.word(bytes, start + 8)
        var block = bytes.loadUnaligned(fromByteOffset: start + 16, as: UInt64.self)
        var position = start + 24 + definitionByteCount
        var digest: UInt64 = 0
        if position <= end {
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start + 24..<position]))
            digest = (try? OrderedIndexDefinition(from: &reader))?.digest ?? 0
        }
        while position + 14 <= end {
            let length = UInt64(Reseal.word(bytes, position))
            let keyByteCount = Reseal.word(bytes, position + 10)
            guard position + 14 + keyByteCount <= end else { break }
            let first = UnsafeRawBufferPointer(rebasing: bytes[position + 14..<position + 14 + keyByteCount])
            if block <= UInt64(start), length <= UInt64(start) - block {
                let contents = UnsafeRawBufferPointer(rebasing: bytes[Int(block)..<Int(block + length)])
                Reseal.put(
                    OrderedBlockCoding.checksum(contents, digest: digest, first: first), bytes, position + 6)
            }
            block &+= length
            position += 14 + keyByteCount
        }
        Reseal.put(PageChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[start..<end])), bytes, end)
    }
}
