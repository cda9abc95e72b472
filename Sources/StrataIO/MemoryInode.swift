internal import Synchronization
internal import SystemPackage

/// What a file in a ``MemoryFileSystem`` holds.
///
/// The bytes lie in extents, sorted and apart; what no extent covers reads as zeros. Extents never move, so appending
/// copies nothing and a mapping can point into them. Files of unknown length grow by doubling, so that there are few.
///
/// Unchecked: `contentLock` guards `extents`, `length`, `allocated` and the extents' bytes, which only a mapping reads
/// without it, on the terms of ``File/map(from:byteCount:)``.
final class MemoryInode: @unchecked Sendable {
    private static let pageByteCount = 4096
    private static let growthMaximumByteCount = 64 << 20
    /// Larger reservations only set the length.
    private static let reservationMaximumByteCount = 1 << 30

    private let contentLock = ReadWriteLock()
    private var extents: [MemoryExtent] = []
    private var length = 0
    private var allocated = 0

    private let lockOwner = Mutex<ObjectIdentifier?>(nil)

    var byteCount: Int {
        contentLock.reading { length }
    }

    /// Address space taken; what of it was never written occupies no memory.
    var allocatedByteCount: Int {
        contentLock.reading { allocated }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        contentLock.reading {
            guard let target = buffer.baseAddress, offset < length else { return 0 }
            let count = min(buffer.count, length - offset)
            copy(offset..<offset + count, to: target)
            return count
        }
    }

    /// Writes all or, when memory ends, nothing (`.noMemory`).
    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int) throws(Errno) -> Int {
        var total = 0
        for buffer in buffers {
            let (sum, overflow) = total.addingReportingOverflow(buffer.count)
            guard !overflow else { throw .invalidArgument }
            total = sum
        }
        guard total > 0 else { return 0 }
        let (end, overflow) = offset.addingReportingOverflow(total)
        guard !overflow, end <= Int.max - Self.growthMaximumByteCount else { throw .fileTooLarge }
        try contentLock.writing { () throws(Errno) in
            try allocate(offset..<end)
            var position = offset
            for buffer in buffers {
                store(buffer, at: position)
                position += buffer.count
            }
            length = max(length, end)
        }
        return total
    }

    func truncate(to newLength: Int) {
        contentLock.writing {
            if newLength < length {
                extents.removeAll { $0.start >= newLength }
                allocated = extents.reduce(0) { $0 + $1.count }
                // What was never written is zero already: cutting off reserved space touches none of it.
                if let last = extents.last, newLength - last.start < last.writtenCount {
                    let kept = newLength - last.start
                    (last.base + kept).initializeMemory(as: UInt8.self, repeating: 0, count: last.writtenCount - kept)
                    last.writtenCount = kept
                }
            }
            length = newLength
        }
    }

    /// Lengthens the file to the range's end. Space after the last extent becomes one extent, so that it can be mapped
    /// as one piece; without memory for it the space comes with the writes.
    func preallocate(_ range: Range<Int>) {
        contentLock.writing {
            length = max(length, range.upperBound)
            let start = max(extents.last?.end ?? 0, roundDown(range.lowerBound))
            let missing = range.upperBound - start
            guard missing > 0, missing <= Self.reservationMaximumByteCount,
                let extent = MemoryExtent(start: start, count: roundUp(missing))
            else { return }
            extents.append(extent)
            allocated += extent.count
        }
    }

    /// Points into the file where one extent holds the whole range, and is a copy elsewhere.
    func map(from offset: Int, byteCount: Int) throws(Errno) -> MappedRegion {
        try contentLock.reading { () throws(Errno) in
            guard offset <= length, byteCount <= length - offset else { throw .invalidArgument }
            guard byteCount > 0 else {
                return MappedRegion(bytes: UnsafeRawBufferPointer(start: nil, count: 0)) { _ in }
            }
            let range = offset..<offset + byteCount
            let index = firstExtent(endingAfter: offset)
            if index < extents.count, extents[index].start <= offset, range.upperBound <= extents[index].end {
                // The region retains the extent, whose memory stays where it is.
                let owner = ExtentOwner(extents[index])
                let start = owner.extent.base + (offset - owner.extent.start)
                return MappedRegion(bytes: UnsafeRawBufferPointer(start: start, count: byteCount)) { _ in
                    withExtendedLifetime(owner) {}
                }
            }
            guard let piece = MemoryExtent(start: offset, count: byteCount) else { throw .noMemory }
            copy(range, to: piece.base)
            let owner = ExtentOwner(piece)
            return MappedRegion(bytes: UnsafeRawBufferPointer(start: piece.base, count: byteCount)) { _ in
                withExtendedLifetime(owner) {}
            }
        }
    }

    func lock(_ owner: ObjectIdentifier) -> Bool {
        lockOwner.withLock { current in
            if current == nil { current = owner }
            return current == owner
        }
    }

    func isLocked(byOtherThan owner: ObjectIdentifier) -> Bool {
        lockOwner.withLock { $0 != nil && $0 != owner }
    }

    func unlock(_ owner: ObjectIdentifier) {
        lockOwner.withLock { current in
            if current == owner { current = nil }
        }
    }
}

extension MemoryInode {
    /// Index of the first extent that reaches beyond `offset`. Complexity: O(log of the number of extents).
    private func firstExtent(endingAfter offset: Int) -> Int {
        var low = 0
        var high = extents.count
        while low < high {
            let middle = (low + high) / 2
            if extents[middle].end <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    private func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
        var position = range.lowerBound
        var index = firstExtent(endingAfter: position)
        while position < range.upperBound {
            let destination = target + (position - range.lowerBound)
            if index < extents.count, extents[index].start <= position {
                let extent = extents[index]
                let count = min(extent.end, range.upperBound) - position
                destination.copyMemory(from: extent.base + (position - extent.start), byteCount: count)
                position += count
                index += 1
            } else {
                let end = index < extents.count ? min(extents[index].start, range.upperBound) : range.upperBound
                destination.initializeMemory(as: UInt8.self, repeating: 0, count: end - position)
                position = end
            }
        }
    }

    /// The range must have been allocated.
    private func store(_ buffer: UnsafeRawBufferPointer, at offset: Int) {
        guard let source = buffer.baseAddress else { return }
        var done = 0
        var index = firstExtent(endingAfter: offset)
        while done < buffer.count {
            let extent = extents[index]
            let position = offset + done - extent.start
            let count = min(extent.count - position, buffer.count - done)
            (extent.base + position).copyMemory(from: source + done, byteCount: count)
            extent.writtenCount = max(extent.writtenCount, position + count)
            done += count
            index += 1
        }
    }

    /// Covers the range with extents.
    private func allocate(_ range: Range<Int>) throws(Errno) {
        var position = range.lowerBound
        var index = firstExtent(endingAfter: position)
        while position < range.upperBound {
            if index < extents.count, extents[index].start <= position {
                position = extents[index].end
                index += 1
                continue
            }
            let previousEnd = index > 0 ? extents[index - 1].end : 0
            let start = max(previousEnd, roundDown(position))
            let count: Int
            if index < extents.count {
                count = min(extents[index].start, roundUp(range.upperBound)) - start
            } else {
                count = max(roundUp(range.upperBound) - start, min(allocated, Self.growthMaximumByteCount))
            }
            guard let extent = MemoryExtent(start: start, count: count) else { throw .noMemory }
            extents.insert(extent, at: index)
            allocated += count
        }
    }

    private func roundDown(_ offset: Int) -> Int {
        offset / Self.pageByteCount * Self.pageByteCount
    }

    private func roundUp(_ offset: Int) -> Int {
        roundDown(offset + Self.pageByteCount - 1)
    }
}

/// Carries an extent into a region's release closure.
///
/// Unchecked: it is only kept alive there, never read or written.
private final class ExtentOwner: @unchecked Sendable {
    let extent: MemoryExtent

    init(_ extent: MemoryExtent) {
        self.extent = extent
    }
}
