import Foundation
import StrataTestKit
import Testing

@testable import StrataLog

@Suite("Memory for blocks")
struct BlockMemoryTests {
    private static let units = 16_384

    @Test("no unit is handed out twice, and what is given back is found again", arguments: 0..<8 as Range<UInt64>)
    func unitsAgreeWithAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        guard var map = UnitMap(count: Self.units) else {
            Issue.record("there is no address space")
            return
        }
        var model = [Bool](repeating: false, count: Self.units)
        var taken: [(first: Int, count: Int)] = []
        for step in 0..<5_000 {
            if taken.isEmpty || Int.random(in: 0..<100, using: &random) < 55 {
                let count = Int.random(in: 1...(step % 50 == 0 ? 3_000 : 200), using: &random)
                let isPossible = Self.longestGap(in: model) >= count
                let first = map.take(count)
                #expect((first != nil) == isPossible, "seed \(seed), step \(step): \(count) units")
                guard let first else { continue }
                #expect(!model[first..<first + count].contains(true), "seed \(seed), step \(step): taken twice")
                for unit in first..<first + count { model[unit] = true }
                taken.append((first, count))
            } else {
                let piece = taken.remove(at: Int.random(in: 0..<taken.count, using: &random))
                map.release(piece.first)
                for unit in piece.first..<piece.first + piece.count { model[unit] = false }
            }
        }
    }

    private static func longestGap(in model: [Bool]) -> Int {
        model.withUnsafeBufferPointer { model in
            var (longest, current) = (0, 0)
            for isTaken in model {
                current = isTaken ? 0 : current + 1
                if current > longest { longest = current }
            }
            return longest
        }
    }

    @Test("pieces lie apart, aligned, and those that do not fit come from the heap")
    func piecesDoNotOverlap() throws {
        let memory = try #require(BlockMemory(budgetBytes: 2 << 20))
        let sizes = [16, 1_024, 5_000, 700_000, 1_100_000, 900_000, 3_000_000]
        let pieces = sizes.map { memory.allocate($0) }
        for (index, piece) in pieces.enumerated() {
            #expect(UInt(bitPattern: piece) % 16 == 0)
            piece.initializeMemory(as: UInt8.self, repeating: UInt8(index), count: sizes[index])
        }
        for (index, piece) in pieces.enumerated() {
            let bytes = UnsafeRawBufferPointer(start: piece, count: sizes[index])
            #expect(bytes.allSatisfy { $0 == UInt8(index) }, "piece \(index) was overwritten")
            memory.deallocate(piece)
        }
        let again = memory.allocate(2_000_000)
        #expect(again == pieces[1], "the stretch is free again from its first unit on")
        memory.deallocate(again)
    }

    @Test("what is free goes back to the system, and what is not stays as it is")
    func freePagesAreGivenBack() throws {
        let memory = try #require(BlockMemory(budgetBytes: 16 << 20))
        let sizes = [3_000_000, 100_000, 3_000_000, 5_000]
        let pieces = sizes.map { memory.allocate($0) }
        for (piece, size) in zip(pieces, sizes) {
            piece.initializeMemory(as: UInt8.self, repeating: 0xA5, count: size)
        }
        memory.deallocate(pieces[0])
        memory.deallocate(pieces[2])
        memory.giveBackFree()
        memory.giveBackFree()
        for index in [1, 3] {
            let bytes = UnsafeRawBufferPointer(start: pieces[index], count: sizes[index])
            #expect(bytes.allSatisfy { $0 == 0xA5 })
        }
        // Pages that the system has taken back are zero when they are used again.
        let again = memory.allocate(2_900_000)
        #expect(again == pieces[0])
        let bytes = UnsafeRawBufferPointer(start: again, count: 2_900_000)
        #expect(bytes.allSatisfy { $0 == 0 })
        for piece in [again, pieces[1], pieces[3]] { memory.deallocate(piece) }
    }

    @Test("a little memory takes no large page, and stays as it is when it becomes part of one")
    func littleMemoryTakesLittle() throws {
        let memory = try #require(BlockMemory(budgetBytes: 16 << 20))
        let first = memory.allocate(10_000)
        first.initializeMemory(as: UInt8.self, repeating: 0xA5, count: 10_000)
        var isResident = [UInt8](repeating: 0, count: (2 << 20) / Int(sysconf(Int32(_SC_PAGESIZE))))
        #expect(mincore(first, 2 << 20, &isResident) == 0)
        #expect(isResident.count { $0 & 1 != 0 } <= isResident.count / 8)
        let others = (0..<3).map { _ in memory.allocate(2_000_000) }
        for piece in others { piece.initializeMemory(as: UInt8.self, repeating: 0x5A, count: 2_000_000) }
        #expect(UnsafeRawBufferPointer(start: first, count: 10_000).allSatisfy { $0 == 0xA5 })
        for piece in others + [first] { memory.deallocate(piece) }
    }

    @Test("a budget below a large page has no stretch of its own")
    func smallBudgets() {
        #expect(BlockMemory(budgetBytes: 0) == nil)
        #expect(BlockMemory(budgetBytes: 1 << 20) == nil)
    }
}
