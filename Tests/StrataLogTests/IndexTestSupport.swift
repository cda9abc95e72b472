import CStrataSupport
import Synchronization

@testable import StrataLog

/// SplitMix64: the same numbers for the same seed, everywhere.
struct IndexTestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A checkpoint file in memory while it is written.
final class IndexTestSink: CheckpointSink {
    var bytes: [UInt8] = []

    var position: Int64 { Int64(bytes.count) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        self.bytes.append(contentsOf: bytes)
    }

    /// The file, with some other contents before what is written next.
    init(padding: Int = 0) {
        bytes = [UInt8](repeating: 0xAB, count: padding)
    }
}

/// A checkpoint file in memory while it is read.
final class IndexTestSource: PageSource {
    let bytes: [UInt8]
    let readCount = Atomic<Int>(0)
    /// Reads fail while this is set.
    let fails = Atomic<Bool>(false)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) {
        readCount.wrappingAdd(1, ordering: .relaxed)
        if fails.load(ordering: .relaxed) { throw StoreError(.io, "a read that was told to fail") }
        guard offset >= 0, Int(offset) <= bytes.count, buffer.count <= bytes.count - Int(offset) else {
            throw StoreError(.corruption, "the file ends too early")
        }
        bytes.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<(Int(offset) + buffer.count)]))
        }
    }
}

extension ObjectIndex {
    /// The nodes that this version needs, counted one by one.
    var reachableNodeCount: Int { reachableNodes.count }

    /// The addresses of the nodes that this version needs.
    var reachableNodes: Set<UInt> {
        var nodes: Set<UInt> = []
        func visit(_ slot: UInt, _ level: Int) {
            guard slot > IndexNode.lazy else { return }
            let node = IndexNode.pointer(slot)
            nodes.insert(UInt(bitPattern: node))
            guard level > 0 else { return }
            if let table = IndexNode.table(node) { nodes.insert(UInt(bitPattern: table)) }
            for index in 0..<IndexNode.fanout {
                visit(IndexNode.slot(node, index).pointee.load(ordering: .acquiring), level - 1)
            }
        }
        visit(UInt(bitPattern: tree.root), tree.height)
        return nodes
    }

    /// All present keys, by way of the runs.
    func contents(from first: UInt64 = 0, to end: UInt64 = .max) throws -> [UInt64: Location] {
        var result: [UInt64: Location] = [:]
        try forEachRun(from: first, to: end) { run in
            for index in 0..<run.count {
                result[run.firstKey + UInt64(index)] = Location(
                    segment: run.location.segment, byteOffset: run.location.byteOffset,
                    row: run.location.row + index)
            }
            return true
        }
        return result
    }
}

/// Puts a number into bytes.
func put<Value: FixedWidthInteger>(_ value: Value, into bytes: inout [UInt8], at offset: Int) {
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
}

/// Replaces the checksum at the end of a directory, as someone would who means harm.
func resealDirectory(_ bytes: inout [UInt8], _ section: CheckpointSection) {
    let start = Int(section.offset)
    let end = start + section.byteCount - 4
    let crc = bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress! + start, end - start) }
    withUnsafeBytes(of: crc.littleEndian) { bytes.replaceSubrange(end..<(end + 4), with: $0) }
}

/// Whether a section is still read when there is another value at an offset of its directory, whose checksum is right.
func isDirectoryRead<Value: FixedWidthInteger>(
    with value: Value, at offset: Int, _ source: IndexTestSource, _ section: CheckpointSection,
    by load: (IndexTestSource) throws -> Void
) -> Bool {
    var bytes = source.bytes
    put(value, into: &bytes, at: Int(section.offset) + offset)
    resealDirectory(&bytes, section)
    return (try? load(IndexTestSource(bytes))) != nil
}
