import StrataLog
import Testing

@testable import Strata

/// The table of objects against a dictionary.
@Suite struct RefTableTests {
    @Test(arguments: [3, 11, 91] as [UInt64]) func agreesWithDictionary(seed: UInt64) {
        var random = seed
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        // Never looked into: a place in memory stands for an object.
        func object(_ number: Int) -> UnsafeMutableRawPointer {
            UnsafeMutableRawPointer(bitPattern: (number + 1) * 16)!
        }
        var table = RefTable()
        var expected: [ObjectRef: Int] = [:]
        for step in 0..<60_000 {
            // Runs of keys of a few entities, and keys far apart.
            let key = next(8) == 0 ? UInt64(next(1 << 30)) + 1 : UInt64(next(2_000)) + 1
            let ref = ObjectRef(entity: UInt16(next(3)), key: key)
            let number = next(1 << 20)
            if next(8) < (step / 6_000 % 2 == 0 ? 6 : 2) {
                table.set(ref, object(number))
                expected[ref] = number
            } else if let known = expected[ref] {
                // One that another has replaced stays.
                table.remove(ref, object(known + 1))
                #expect(table.object(ref) == object(known), "seed \(seed), step \(step)")
                table.remove(ref, object(known))
                expected[ref] = nil
            } else {
                table.remove(ref, object(number))
            }
            if step % 5_000 == 4_999 {
                var isSame = table.count == expected.count
                for (ref, number) in expected where table.object(ref) != object(number) { isSame = false }
                #expect(isSame, "seed \(seed), step \(step)")
            }
        }
        var count = 0
        table.forEach { _ in count += 1 }
        #expect(count == expected.count)
        table.removeAll()
        #expect(table.count == 0)
        for ref in expected.keys { #expect(table.object(ref) == nil) }
    }

    /// Objects that come and go leave room for others, in whatever order they go: a table that few are in stays small.
    @Test(arguments: [1, 7, 40]) func whatHasGoneTakesNoRoom(alive: Int) {
        func object(_ key: UInt64) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: UInt(key) * 16)! }
        func ref(_ key: UInt64) -> ObjectRef { ObjectRef(entity: 3, key: key) }
        var table = RefTable()
        var keys: [UInt64] = []
        for step in 0..<50_000 as Range<UInt64> {
            let key = step &* 0x9E37_79B9 % 1_000_000 + 1
            if table.object(ref(key)) == nil { keys.append(key) }
            table.set(ref(key), object(key))
            if keys.count > alive {
                let gone = keys.remove(at: Int(step) * 31 % keys.count)
                let wasThere = table.take(ref(gone), object(gone))
                #expect(wasThere)
            }
        }
        #expect(table.count == keys.count && table.capacity <= max(16, alive * 6))
        for key in keys { #expect(table.object(ref(key)) == object(key)) }
        for key in keys { table.remove(ref(key), object(key)) }
        var cursor = 5
        let taken = table.takeSome(10, from: &cursor) { _, _ in }
        #expect(table.count == 0 && taken == 0)
    }
}
