import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

@Suite struct SpareMemoryTests {
    private func piece() -> UInt { UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)) }

    private func free(_ piece: UInt) { UnsafeMutableRawPointer(bitPattern: piece)?.deallocate() }

    @Test func whatWasSetAsideIsTakenOnce() {
        var spares = SpareMemory(byteCount: 64, maximumCount: 3)
        var taken = spares.take()
        #expect(taken == 0)
        let pieces = (0..<3).map { _ in piece() }
        for piece in pieces {
            let isAside = spares.setAside(piece)
            #expect(isAside)
        }
        let again = (0..<3).map { _ in spares.take() }
        #expect(Set(again) == Set(pieces))
        taken = spares.take()
        #expect(taken == 0)
        for piece in pieces { free(piece) }
    }

    @Test func moreThanIsWantedIsRefused() {
        var spares = SpareMemory(byteCount: 64, maximumCount: 1)
        let (first, second) = (piece(), piece())
        let isFirstAside = spares.setAside(first)
        let isSecondAside = spares.setAside(second)
        #expect(isFirstAside && !isSecondAside)
        free(second)
        spares.deallocate()
        let taken = spares.take()
        #expect(taken == 0)
    }

    /// Threads that make and free versions of one index find the memory that they wrote to as they left it.
    @Test func nodesOfOneIndexAreNobodyElses() async {
        let lineage = IndexLineage()
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    var held: [(address: UInt, byteCount: Int)] = []
                    var isIntact = true
                    func release(_ index: Int) {
                        let (address, byteCount) = held.remove(at: index)
                        guard let node = UnsafeMutableRawPointer(bitPattern: address) else { return }
                        let words = UnsafeBufferPointer(
                            start: node.assumingMemoryBound(to: UInt64.self), count: byteCount / 8)
                        isIntact = isIntact && words.allSatisfy { $0 == UInt64(address) ^ UInt64(number) }
                        lineage.free(node, byteCount)
                    }
                    for _ in 0..<2_000 {
                        if held.count < 12, random.next() % 2 == 0 {
                            let byteCount = [
                                IndexNode.fullPageByteCount, IndexNode.directoryByteCount, IndexNode.tableByteCount,
                            ][Int(random.next() % 3)]
                            let node = lineage.allocate(byteCount)
                            let mark = UInt64(UInt(bitPattern: node)) ^ UInt64(number)
                            node.bindMemory(to: UInt64.self, capacity: byteCount / 8).initialize(
                                repeating: mark, count: byteCount / 8)
                            held.append((UInt(bitPattern: node), byteCount))
                        } else if !held.isEmpty {
                            release(Int(random.next() % UInt64(held.count)))
                        }
                    }
                    while !held.isEmpty { release(0) }
                    return isIntact
                }
            }
            for await isIntact in group { #expect(isIntact) }
        }
        #expect(lineage.liveNodes.load(ordering: .relaxed) == 0)
        #expect(lineage.liveBytes.load(ordering: .relaxed) == 0)
    }
}
