internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// Blocks for a scan that goes past them once. What is in the cache is taken from there; what is not is read some
/// blocks at a time, into memory that goes as soon as nobody has the block, and takes no room in the cache. Belongs to
/// one thread.
package final class PassingBlocks {
    /// Bytes of a file, from an offset on.
    private struct Window {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: PassingBlocks.windowByteCount, alignment: 64)
        var segment: UInt32 = 0
        var offset = 0
        var count = 0
        /// When it was last looked at.
        var tick = 0

        /// The block at a place and what follows it; nil unless the whole block lies in the window.
        func block(at location: Location) -> UnsafeRawBufferPointer? {
            guard location.segment == segment, location.byteOffset >= offset, location.byteOffset < offset + count
            else {
                return nil
            }
            let block = UnsafeRawBufferPointer(rebasing: bytes[location.byteOffset - offset..<count])
            guard let byteCount = BlockHeader.unverifiedByteCount(block) else { return nil }
            return byteCount <= block.count ? block : nil
        }
    }

    private static let windowByteCount = 256 << 10
    /// Rows that were replaced lie in other places than their neighbours: so many places are read from in turn.
    private static let windowsMaximum = 4

    private let source: BlockSource
    private var windows: [Window] = []
    private var tick = 0

    fileprivate init(_ source: BlockSource) {
        self.source = source
    }

    deinit {
        for window in windows { window.bytes.deallocate() }
    }

    /// The block at a location; says whether it was in the cache.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    package func block(at location: Location, wasCached: inout Bool) throws(StoreError) -> Block {
        let location = location.block
        wasCached = true
        if let block = source.cache.get(location) { return block }
        wasCached = false
        // One that is longer, or damaged, is read by itself, which also knows what to say of it.
        guard let bytes = try bytes(at: location) else { return try source.block(at: location) }
        return try Block.load(bytes, location: location, storeUUID: source.storeUUID) {
            (version, entity) throws(StoreError) in
            try source.shape(version: version, entity: entity)
        }
    }

    /// Valid until the next call.
    private func bytes(at location: Location) throws(StoreError) -> UnsafeRawBufferPointer? {
        tick += 1
        for index in windows.indices {
            guard let block = windows[index].block(at: location) else { continue }
            windows[index].tick = tick
            return block
        }
        var oldest = windows.count
        if windows.count < Self.windowsMaximum {
            windows.append(Window())
        } else {
            oldest = 0
            for index in windows.indices where windows[index].tick < windows[oldest].tick { oldest = index }
        }
        windows[oldest].tick = tick
        try fill(&windows[oldest], from: location)
        return windows[oldest].block(at: location)
    }

    private func fill(_ window: inout Window, from location: Location) throws(StoreError) {
        window.count = 0
        let file = try source.file(segment: location.segment)
        do throws(Errno) {
            window.count = try file.readPrefix(into: window.bytes, at: Int64(location.byteOffset))
        } catch {
            throw StoreError(
                .io, "could not read a block", errno: error, path: source.files.segment(location.segment).string,
                segment: location.segment, offset: location.byteOffset)
        }
        window.segment = location.segment
        window.offset = location.byteOffset
    }
}

extension LogStore {
    /// For one thread that goes through many blocks of the store once.
    package func passingBlocks() -> PassingBlocks { PassingBlocks(source) }
}
