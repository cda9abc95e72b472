import StrataIO
import SystemPackage

@testable import StrataLog

/// The pieces of the log outside of blocks: headers, bodies, state, the manifest.
enum LogTargets {
    static let all = [
        FuzzTarget("record-header", maximumByteCount: 128, seeds: { Samples.records() }) { header($0, reseals: false) },
        FuzzTarget("record-header-resealed", maximumByteCount: 128, seeds: { Samples.records() }) {
            header($0, reseals: true)
        },
        FuzzTarget("record", seeds: { Samples.records() }) { record($0, reseals: false) },
        FuzzTarget("record-resealed", seeds: { Samples.records() }) { record($0, reseals: true) },
        FuzzTarget("transaction-body", seeds: { Samples.records().map(body) }) { transactionBody($0) },
        FuzzTarget("state", seeds: { state() }) { state($0) },
        FuzzTarget("segment-header", maximumByteCount: 128, seeds: { [Array(Samples.segment().prefix(64))] }) { input in
            segmentHeader(input)
            var resealed = input
            resealed.withUnsafeMutableBytes { Reseal.segmentHeader($0) }
            segmentHeader(resealed)
        },
        FuzzTarget("manifest", maximumByteCount: 8192, seeds: { manifests() }) { manifest($0) },
    ]

    private static func place(_ offset: Int = 64) -> LogAddress {
        LogAddress(storeUUID: Samples.storeUUID, segment: 1, offset: offset, sequence: 0)
    }

    private static func source() -> BlockSource {
        let source = BlockSource(
            files: StoreFiles(fileSystem: MemoryFileSystem(), directory: "/s"), storeUUID: Samples.storeUUID,
            cacheMaximumBytes: 0)
        source.setSchemas([NumberedSchema(version: 1, schema: Samples.schema)])
        return source
    }

    /// Records are taken from wherever they lay; only resealing puts them at offset 64.
    private static func parsed(_ input: [UInt8], reseals: Bool) -> (RecordHeader, [UInt8])? {
        var bytes = input
        if reseals { bytes.withUnsafeMutableBytes { _ = Reseal.record($0, at: place()) } }
        let header = bytes.withUnsafeBytes {
            try? RecordHeader.parse($0, storeUUID: Samples.storeUUID, segment: 1, offset: SegmentHeader.byteCount)
        }
        return header.map { ($0, bytes) }
    }

    private static func header(_ input: [UInt8], reseals: Bool) {
        guard let (header, _) = parsed(input, reseals: reseals) else { return }
        var again = [UInt8](repeating: 0, count: RecordHeader.byteCount)
        again.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let address = LogAddress(storeUUID: Samples.storeUUID, segment: 1, offset: 64, sequence: header.sequence)
            _ = header.write(to: start, at: address)
        }
        let reread = again.withUnsafeBytes {
            try? RecordHeader.parse($0, storeUUID: Samples.storeUUID, segment: 1, offset: 64)
        }
        precondition(reread == header, "a header does not survive writing and reading")
    }

    private static func record(_ input: [UInt8], reseals: Bool) {
        var input = input
        // The length is put right, so that mutations that insert or erase get further.
        if reseals, input.count >= 80 {
            input.removeLast(input.count % 64)
            input.withUnsafeMutableBytes { Reseal.put(UInt32($0.count), $0, 24) }
        }
        guard let (header, bytes) = parsed(input, reseals: reseals) else { return }
        bytes.withUnsafeBytes {
            _ = try? RecordContents($0, header: header, segment: 1, offset: 64, source: source())
        }
    }

    private static func body(_ record: [UInt8]) -> [UInt8] {
        let count = record.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 28, as: UInt32.self)) }
        return Array(record[64..<64 + count])
    }

    private static func transactionBody(_ input: [UInt8]) {
        input.withUnsafeBytes { bytes in
            guard let body = try? TransactionBody(bytes) else { return }
            let again = body.encoded()
            let reread = again.withUnsafeBytes { try? TransactionBody($0).encoded() }
            precondition(reread == again, "a body does not survive writing and reading")
        }
    }

    private static func state() -> [[UInt8]] {
        var state = StoreState()
        state.schemas = [
            NumberedSchema(version: 1, schema: Samples.schema),
            NumberedSchema(version: 2, schema: Schema(entities: [makeLayout(ValueKind.allCases)], model: [1, 2, 3])),
        ]
        state.metadata = Array("metadata".utf8)
        state.nextKeys = [.init(root: 1, next: 5), .init(root: 2, next: 77)]
        var writer = ByteWriter()
        state.append(to: &writer)
        return [writer.bytes]
    }

    private static func state(_ input: [UInt8]) {
        input.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard var state = try? StoreState(from: &reader) else { return }
            var writer = ByteWriter()
            state.append(to: &writer)
            writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                precondition((try? StoreState(from: &reader)) == state, "state do not survive writing and reading")
            }
            state.raiseNextKey(root: 3, to: 9)
            _ = StoreLayout(state.schemas).root(ofEntity: 2)
        }
    }

    private static func segmentHeader(_ input: [UInt8]) {
        input.withUnsafeBytes { bytes in
            guard let header = try? SegmentHeader(bytes, segment: 1) else { return }
            let again = header.encoded()
            precondition(again.withUnsafeBytes { try? SegmentHeader($0, segment: 1) } == header)
        }
    }

    private static func manifests() -> [[UInt8]] {
        let manifest = Manifest(
            number: 3, storeUUID: Samples.storeUUID, segment: 2, checkpoint: 1,
            durable: LogPosition(segment: 2, offset: 4096))
        var older = manifest
        older.number = 2
        let slot = manifest.encoded()
        return [slot, older.encoded() + [UInt8](repeating: 0, count: 4096 - slot.count) + slot]
    }

    private static func manifest(_ input: [UInt8]) {
        var resealed = input
        resealed.withUnsafeMutableBytes { bytes in
            for start in [0, 4096] where bytes.count >= start + 60 {
                Reseal.put(Reseal.checksum(bytes, start..<start + 56), bytes, start + 56)
            }
        }
        for bytes in [input, resealed] {
            _ = bytes.withUnsafeBytes { Manifest($0) }
            let files = MemoryFileSystem()
            try? files.createDirectory("/s")
            try? Samples.write(bytes, "/s/MANIFEST", files)
            _ = Manifest.read(StoreFiles(fileSystem: files, directory: "/s"))
        }
    }
}
