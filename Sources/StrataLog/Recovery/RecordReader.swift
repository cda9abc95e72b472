internal import StrataIO
internal import SystemPackage

/// Reads the records of one segment in order, through a window, so that a log of small records does not cost two
/// system calls for each. The window is small as long as little is read: opening a store that was closed looks at two
/// records.
final class RecordReader {
    private static let windowFirstByteCount = 16 << 10
    private static let windowUsualByteCount = 256 << 10

    let segment: UInt32
    /// Bytes of the segment that may be read: its file's length, or less where that is known.
    let limit: Int
    private let file: any File
    private let path: FilePath
    private let storeUUID: StoreUUID
    private var window: UnsafeMutableRawBufferPointer
    private var windowOffset = 0
    private var windowCount = 0

    init(files: StoreFiles, storeUUID: StoreUUID, segment: UInt32, file: any File, limit: Int? = nil) throws(StoreError)
    {
        self.segment = segment
        self.file = file
        self.storeUUID = storeUUID
        path = files.segment(segment)
        let path = path
        let byteCount = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        self.limit = min(limit ?? Int(byteCount), Int(byteCount), Location.segmentMaximumBytes)
        window = .allocate(byteCount: Self.windowFirstByteCount, alignment: 64)
    }

    deinit {
        window.deallocate()
    }

    /// The bytes of a range, valid until the next call; nil when it goes past ``limit``.
    func bytes(at offset: Int, count: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, count <= limit - offset else { return nil }
        if offset < windowOffset || offset + count > windowOffset + windowCount {
            try fill(from: offset, count: count)
        }
        guard offset + count <= windowOffset + windowCount else { return nil }
        let start = offset - windowOffset
        return UnsafeRawBufferPointer(rebasing: window[start..<start + count])
    }

    private func fill(from offset: Int, count: Int) throws(StoreError) {
        // Reading goes on behind what was read: there may be much more.
        let isGoingOn = windowCount > 0 && offset > windowOffset && offset <= windowOffset + windowCount
        let wish = isGoingOn ? min(window.count * 4, Self.windowUsualByteCount) : 0
        if window.count < max(count, wish) {
            window.deallocate()
            windowCount = 0
            window = .allocate(byteCount: max(count, wish), alignment: 64)
        }
        let wanted = min(window.count, limit - offset)
        let room = UnsafeMutableRawBufferPointer(rebasing: window[..<wanted])
        windowCount = 0
        windowCount = try io("read", path) { () throws(Errno) in
            try file.readPrefix(into: room, at: Int64(offset))
        }
        windowOffset = offset
    }

    /// The header at an offset; nil when no record was written there.
    func header(at offset: Int) throws(StoreError) -> RecordHeader? {
        guard let bytes = try bytes(at: offset, count: RecordHeader.byteCount) else { return nil }
        return try RecordHeader.parse(bytes, storeUUID: storeUUID, segment: segment, offset: offset)
    }

    /// The whole record; nil when the segment ends before it does.
    func record(_ header: RecordHeader, at offset: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
        try bytes(at: offset, count: header.byteCount)
    }

    /// The segment's own header.
    func segmentHeader() throws(StoreError) -> SegmentHeader {
        guard let bytes = try bytes(at: 0, count: SegmentHeader.byteCount) else {
            throw StoreError(
                .corruption, "segment header: the file ends inside it", path: path.string, segment: segment)
        }
        return try SegmentHeader(bytes, segment: segment)
    }

    /// Whether everything from an offset to the limit is zeros: space reserved and never used.
    func isZero(from offset: Int) throws(StoreError) -> Bool {
        var position = offset
        while position < limit {
            let count = min(Self.windowUsualByteCount, limit - position)
            guard let bytes = try bytes(at: position, count: count) else { return true }
            if !bytes.isZero { return false }
            position += count
        }
        return true
    }
}
