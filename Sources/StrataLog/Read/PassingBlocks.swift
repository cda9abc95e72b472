internal import StrataIO
internal import SystemPackage

/// Blocks for a scan that goes past them once. What is in the cache is taken from there; what is not is read some
/// blocks at a time, into memory that goes as soon as nobody has the block, and takes no room in the cache. Belongs to
/// one thread.
package final class PassingBlocks {
    private static let windowByteCount = 256 << 10

    private let source: BlockSource
    /// Bytes of a file, from an offset on.
    private let window: UnsafeMutableRawBufferPointer
    private var segment: UInt32 = 0
    private var offset = 0
    private var count = 0

    fileprivate init(_ source: BlockSource) {
        self.source = source
        window = .allocate(byteCount: Self.windowByteCount, alignment: 64)
    }

    deinit { window.deallocate() }

    /// The block at a location; says whether it was in the cache.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    package func block(at location: Location, wasCached: inout Bool) throws(StoreError) -> Block {
        let place = location.block
        wasCached = true
        if let block = source.cache.get(place) { return block }
        wasCached = false
        if !holds(place) { try fill(from: place) }
        // One that is longer, or damaged, is read by itself, which also knows what to say of it.
        guard holds(place) else { return try source.block(at: place) }
        let bytes = UnsafeRawBufferPointer(rebasing: window[place.byteOffset - offset..<count])
        return try Block.load(bytes, location: place, storeUUID: source.storeUUID) { source.schema(version: $0) }
    }

    /// Whether the whole block lies in the window.
    private func holds(_ place: Location) -> Bool {
        guard place.segment == segment, place.byteOffset >= offset, place.byteOffset < offset + count else {
            return false
        }
        let start = place.byteOffset - offset
        let bytes = UnsafeRawBufferPointer(rebasing: window[start..<count])
        guard let byteCount = BlockHeader.unverifiedByteCount(bytes) else { return false }
        return byteCount <= bytes.count
    }

    private func fill(from place: Location) throws(StoreError) {
        count = 0
        let file = try source.file(segment: place.segment)
        do throws(Errno) {
            count = try file.readPrefix(into: window, at: Int64(place.byteOffset))
        } catch {
            throw StoreError(
                .io, "could not read a block", errno: error, path: source.files.segment(place.segment).string,
                segment: place.segment, offset: place.byteOffset)
        }
        segment = place.segment
        offset = place.byteOffset
    }
}

extension LogStore {
    /// For one thread that goes through many blocks of the store once.
    package func passingBlocks() -> PassingBlocks { PassingBlocks(source) }
}
