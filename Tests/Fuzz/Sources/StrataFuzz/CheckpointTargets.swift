import StrataIO
import StrataSupport
import SystemPackage

@testable import StrataLog

/// Checkpoint files and the sections in them.
enum CheckpointTargets {
    static let all =
        [
            FuzzTarget("checkpoint", seeds: { Samples.checkpoints() }) { checkpoint($0) },
            FuzzTarget("checkpoint-resealed", seeds: { Samples.checkpoints() }) { checkpoint(resealed($0)) },
            FuzzTarget("object-index", maximumByteCount: 8192, seeds: { try objectIndexes() }) {
                objectIndex($0, reseals: false)
            },
            FuzzTarget("object-index-resealed", maximumByteCount: 8192, seeds: { try objectIndexes() }) {
                objectIndex($0, reseals: true)
            },
            FuzzTarget("postings", maximumByteCount: 8192, seeds: { try postings() }) { postings($0, reseals: false) },
            FuzzTarget("postings-resealed", maximumByteCount: 8192, seeds: { try postings() }) {
                postings($0, reseals: true)
            },
        ] + OrderedTargets.all

    // MARK: The file

    private static func checkpoint(_ input: [UInt8]) {
        let files = MemoryFileSystem()
        try? files.createDirectory("/s")
        try? Samples.write(input, "/s/00000001.chk", files)
        let source = BlockSource(
            files: StoreFiles(fileSystem: files, directory: "/s"), storeUUID: Samples.storeUUID, cacheMaximumBytes: 0)
        guard let checkpoint = try? Checkpoint.open(number: 1, source: source, removesDamaged: false) else { return }
        let snapshot = checkpoint.snapshot
        _ = snapshot.count(entity: 2)
        for index in snapshot.indexes { probe(index) }
        for list in snapshot.postings.values { probe(list) }
        for index in snapshot.orderedIndexes { OrderedTargets.probe(index) }
        try? Checkpoint.write(number: 2, snapshot: snapshot, storeState: checkpoint.storeState)
    }

    /// Sections, directory and trailer.
    static func resealed(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        guard bytes.count >= 64 else { return bytes }
        bytes.withUnsafeMutableBytes { bytes in
            let trailer = bytes.count - 64
            let offset = bytes.loadUnaligned(fromByteOffset: trailer + 24, as: UInt64.self)
            let length = bytes.loadUnaligned(fromByteOffset: trailer + 32, as: UInt64.self)
            if offset <= UInt64(trailer), length <= UInt64(trailer) - offset {
                let range = Int(offset)..<Int(offset + length)
                let directory = try? Checkpoint.Directory(
                    UnsafeRawBufferPointer(rebasing: bytes[range]), fileByteCount: Int64(bytes.count))
                for entry in directory?.indexes ?? [] { resealObjectIndex(bytes, entry.section) }
                for entry in directory?.postings ?? [] { resealPostings(bytes, entry.section) }
                for section in directory?.ordered ?? [] { OrderedTargets.reseal(bytes, section) }
                Reseal.put(Reseal.checksum(bytes, range), bytes, trailer + 40)
            }
            Reseal.put(Reseal.checksum(bytes, trailer..<trailer + 60), bytes, trailer + 60)
        }
        return bytes
    }

    // MARK: Sections

    /// Two bytes that say where the directory begins, then pages and directory.
    static func input(_ sink: IndexTestSink, _ section: CheckpointSection) -> [UInt8] {
        withUnsafeBytes(of: UInt16(section.offset).littleEndian) { Array($0) } + sink.bytes
    }

    static func section(_ input: [UInt8]) -> (CheckpointSection, [UInt8])? {
        guard input.count >= 2 else { return nil }
        let bytes = Array(input[2...])
        let offset = Int(input[0]) | Int(input[1]) << 8
        guard offset <= bytes.count else { return nil }
        return (CheckpointSection(offset: Int64(offset), byteCount: bytes.count - offset), bytes)
    }

    private static func objectIndexes() throws -> [[UInt8]] {
        try [1, 5, 600, 40_000].map { count in
            let edit = IndexEdit(base: ObjectIndex())
            edit.setRun(firstKey: 1, count: min(count, 3000), location: Location(segment: 1, byteOffset: 64, row: 0))
            for key in 1...30 where count > 600 {
                edit.set(UInt64(key * 17), Location(segment: 2, byteOffset: key * 64, row: key))
            }
            for key in 1030...1270 where count > 600 { edit.set(UInt64(key * 2), .absent) }
            if count > 600 { edit.set(UInt64(count), Location(segment: 3, byteOffset: 64, row: 1)) }
            let sink = IndexTestSink()
            return input(sink, try edit.finish().encode(into: sink))
        }
    }

    private static func objectIndex(_ input: [UInt8], reseals: Bool) {
        guard var (section, bytes) = section(input) else { return }
        if reseals { bytes.withUnsafeMutableBytes { resealObjectIndex($0, section) } }
        section.byteCount = bytes.count - Int(section.offset)
        guard let index = try? ObjectIndex.load(section, from: IndexTestSource(bytes)) else { return }
        probe(index)
    }

    static func resealObjectIndex(_ bytes: UnsafeMutableRawBufferPointer, _ section: CheckpointSection) {
        let start = Int(section.offset)
        guard start >= 0, start <= bytes.count, section.byteCount >= 4, section.byteCount <= bytes.count - start else {
            return
        }
        let end = start + section.byteCount - 4
        var position = start + 24
        while position + 24 <= end {
            let number = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let bitmap = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
            var offset = bytes.loadUnaligned(fromByteOffset: position + 16, as: UInt64.self)
            position += 24
            for page in 0..<UInt64(64) where bitmap >> page & 1 == 1 {
                guard position + 6 <= end else { break }
                let length = UInt64(bytes.loadUnaligned(fromByteOffset: position, as: UInt16.self))
                Reseal.put(pageChecksum(bytes, start, offset, length, number &* 64 &+ page), bytes, position + 2)
                offset &+= length
                position += 6
            }
        }
        Reseal.put(PageChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[start..<end])), bytes, end)
    }

    private static func pageChecksum(
        _ bytes: UnsafeMutableRawBufferPointer, _ limit: Int, _ offset: UInt64, _ length: UInt64, _ key: UInt64,
        _ second: UInt64 = 0
    ) -> UInt32 {
        guard offset <= UInt64(limit), length <= UInt64(limit) - offset else { return 0 }
        return PageChecksum.of(
            UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset + length)]), key: key, second)
    }

    private static func probe(_ index: ObjectIndex) {
        for key in [1, 2, 511, 512, 40_000, index.maximumKey] as [UInt64] { _ = try? index.location(of: key) }
        var runs = 0
        try? index.forEachRun { run in
            runs += 1
            return runs < 10_000
        }
        let edit = IndexEdit(base: index)
        edit.set(3, Location(segment: 1, byteOffset: 64, row: 2))
        edit.setRun(firstKey: 500, count: 700, location: Location(segment: 1, byteOffset: 128, row: 0))
        guard let changed = try? edit.finish() else { return }
        _ = try? changed.encode(into: IndexTestSink())
        _ = try? index.encode(into: IndexTestSink())
    }

    private static func postings() throws -> [[UInt8]] {
        try [1, 20, 1200].map { count in
            let list = Postings().adding(
                (1...count).map {
                    PostingChange(
                        target: ObjectRef(entity: 1, key: UInt64($0 % 5 + 1)),
                        referrer: ObjectRef(entity: 2, key: UInt64($0 * 3)))
                })
            let sink = IndexTestSink()
            return input(sink, try list.encode(into: sink))
        }
    }

    private static func postings(_ input: [UInt8], reseals: Bool) {
        guard var (section, bytes) = section(input) else { return }
        if reseals { bytes.withUnsafeMutableBytes { resealPostings($0, section) } }
        section.byteCount = bytes.count - Int(section.offset)
        guard let list = try? Postings.load(section, from: IndexTestSource(bytes)) else { return }
        probe(list)
    }

    static func resealPostings(_ bytes: UnsafeMutableRawBufferPointer, _ section: CheckpointSection) {
        let start = Int(section.offset)
        guard start >= 0, start <= bytes.count, section.byteCount >= 36, section.byteCount <= bytes.count - start else {
            return
        }
        let end = start + section.byteCount - 4
        var offset = bytes.loadUnaligned(fromByteOffset: start + 24, as: UInt64.self)
        var position = start + 32
        while position + 24 <= end {
            let target = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let referrer = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
            let length = UInt64(bytes.loadUnaligned(fromByteOffset: position + 16, as: UInt16.self))
            Reseal.put(pageChecksum(bytes, start, offset, length, target, referrer), bytes, position + 20)
            offset &+= length
            position += 24
        }
        Reseal.put(PageChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[start..<end])), bytes, end)
    }

    private static func probe(_ list: Postings) {
        let targets =
            (1...5).map { ObjectRef(entity: 1, key: UInt64($0)) } + [ObjectRef(rawValue: 0), ObjectRef(rawValue: .max)]
        for target in targets {
            _ = try? list.count(of: target)
            _ = try? list.referrers(of: target)
        }
        let changed = list.adding([
            PostingChange(target: targets[0], referrer: ObjectRef(entity: 2, key: 3), isRemoval: true),
            PostingChange(target: targets[1], referrer: ObjectRef(entity: 2, key: 1)),
        ])
        _ = try? changed.count(of: targets[0])
        _ = try? changed.referrers(of: targets[0])
        _ = try? changed.encode(into: IndexTestSink())
        _ = try? list.encode(into: IndexTestSink())
    }
}
