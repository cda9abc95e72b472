internal import Synchronization

/// Pages in the form of runs: each run holds for the keys from its start to the next run's start, which lie at
/// consecutive locations, or are all absent when the run's location is absent.
enum IndexRuns {
    typealias Pointer = UnsafeMutableRawPointer

    @inline(__always)
    static func count(_ node: Pointer) -> Int { Int(node.load(fromByteOffset: 8, as: UInt64.self)) }

    /// Starts come in groups of eight, so that a look-up compares them with whole vectors.
    @inline(__always)
    static func groups(_ count: Int) -> Int { (count + 7) >> 3 }

    @inline(__always)
    static func byteCount(_ count: Int) -> Int { 16 + groups(count) * 16 + count * 8 }

    @inline(__always)
    static func starts(_ node: Pointer) -> UnsafeMutablePointer<Int16> {
        (node + 16).assumingMemoryBound(to: Int16.self)
    }

    @inline(__always)
    static func locations(_ node: Pointer) -> UnsafeMutablePointer<UInt64> {
        (node + 16 + groups(count(node)) * 16).assumingMemoryBound(to: UInt64.self)
    }

    /// A page whose starts and locations the caller fills in.
    static func make(_ lineage: IndexLineage, count: Int) -> Pointer {
        let node = lineage.allocate(byteCount(count))
        node.bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(1))
        node.storeBytes(of: UInt64(count), toByteOffset: 8, as: UInt64.self)
        (node + 16).initializeMemory(as: Int16.self, repeating: Int16.max, count: groups(count) * 8)
        (node + 16 + groups(count) * 16).initializeMemory(as: UInt64.self, repeating: 0, count: count)
        return node
    }

    @inline(__always)
    static func value(_ node: Pointer, _ offset: Int) -> UInt64 {
        let key = SIMD8(repeating: Int16(truncatingIfNeeded: offset))
        let groups = groups(count(node))
        var hits = SIMD8<Int16>()
        for group in 0..<groups {
            let starts = node.load(fromByteOffset: 16 + group * 16, as: SIMD8<Int16>.self)
            // A true lane is -1: the sum counts the starts at or before the key.
            hits &+= unsafeBitCast(starts .<= key, to: SIMD8<Int16>.self)
        }
        // SAFETY: the first start is 0, so that at least one lane counted, and padding never does.
        let run = -Int(hits.wrappedSum()) - 1
        let location = (node + 16 + groups * 16).load(fromByteOffset: run * 8, as: UInt64.self)
        if location == 0 { return 0 }
        let start = Int((node + 16).load(fromByteOffset: run * 2, as: Int16.self))
        return location &+ UInt64(offset - start)
    }

    /// The number of runs that 512 locations make, or nil when there are more than `maximumRuns`.
    static func countRuns(_ values: UnsafePointer<UInt64>) -> Int? {
        var breaks = 0
        var previous = values[0]
        var position = 1
        while position < IndexNode.keysPerPage {
            let end = min(position + 64, IndexNode.keysPerPage)
            for index in position..<end {
                let value = values[index]
                breaks += value == successor(previous) ? 0 : 1
                previous = value
            }
            if breaks >= IndexNode.maximumRuns { return nil }
            position = end
        }
        return breaks + 1
    }

    @inline(__always)
    static func successor(_ location: UInt64) -> UInt64 { location == 0 ? 0 : location &+ 1 }

    /// Packs 512 locations that make `count` runs.
    static func pack(_ values: UnsafePointer<UInt64>, count: Int, _ lineage: IndexLineage) -> Pointer {
        let node = make(lineage, count: count)
        let starts = starts(node)
        let locations = locations(node)
        starts[0] = 0
        locations[0] = values[0]
        var run = 0
        for index in 1..<IndexNode.keysPerPage where values[index] != successor(values[index - 1]) {
            run += 1
            starts[run] = Int16(index)
            locations[run] = values[index]
        }
        return node
    }

    static func unpack(_ node: Pointer, into values: UnsafeMutablePointer<UInt64>) {
        let count = count(node)
        let starts = starts(node)
        let locations = locations(node)
        for run in 0..<count {
            let start = Int(starts[run])
            let end = run + 1 < count ? Int(starts[run + 1]) : IndexNode.keysPerPage
            fill(values + start, count: end - start, from: locations[run])
        }
    }

    /// Consecutive locations, or absent ones when the first is absent.
    @inline(__always)
    static func fill(_ values: UnsafeMutablePointer<UInt64>, count: Int, from location: UInt64) {
        if location == 0 {
            values.update(repeating: 0, count: count)
        } else {
            for index in 0..<count { values[index] = location &+ UInt64(index) }
        }
    }
}
