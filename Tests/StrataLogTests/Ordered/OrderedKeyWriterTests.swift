import StrataTestKit
import Testing

@testable import StrataLog

/// Keys that look-ups write to memory of their own are those that indexes have.
@Suite struct OrderedKeyWriterTests {
    private func written(
        _ capacity: Int = OrderedKeyWriter.fixedMaximumByteCount, _ body: (inout OrderedKeyWriter) -> Void
    ) -> [UInt8] {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { memory in
            var writer = OrderedKeyWriter(memory)
            body(&writer)
            return writer.array
        }
    }

    private func component<T>(_ value: T, _ kind: ValueKind) -> [UInt8] {
        withUnsafeBytes(of: value) { OrderedKey.component($0, kind) }
    }

    @Test func numbers() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let value = Int64(bitPattern: random.next()) >> Int64(random.below(64))
            #expect(written { _ = $0.append(value, .int64) } == component(value, .int64))
            let (small, tiny) = (Int32(truncatingIfNeeded: value), Int16(truncatingIfNeeded: value))
            #expect(written { _ = $0.append(Int64(small), .int32) } == component(small, .int32))
            #expect(written { _ = $0.append(Int64(tiny), .int16) } == component(tiny, .int16))
            let real = Double(bitPattern: random.next())
            if !real.isNaN { #expect(written { $0.append(real: real) } == component(real, .double)) }
            let words = (random.next(), random.next())
            #expect(written { $0.append(uuid: words) } == component(words, .uuid))
            let ref = ObjectRef(entity: UInt16(random.below(60_000)), key: random.next() & ObjectRef.maximumKey)
            // But for the entity, which is its last two bytes.
            #expect(written { $0.append(key: ref.key) } == component(ref.rawValue, .reference).dropLast(2) + [])
        }
        for value in [0.0, -0.0, .infinity, -.infinity] {
            #expect(written { $0.append(real: value) } == component(value, .double))
        }
        for value in [0, 1] as [UInt8] {
            #expect(written { _ = $0.append(Int64(value), .bool) } == component(value, .bool))
        }
    }

    @Test func numbersThatTheKindCannotHoldAreNotWritten() {
        for (value, kind) in [(2, .bool), (-1, .bool), (1 << 15, .int16), (1 << 31, .int32)] as [(Int64, ValueKind)] {
            var isWritten = true
            let key = written { isWritten = $0.append(value, kind) }
            #expect(key == [] && !isWritten)
        }
    }

    @Test func texts() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<2_000 {
            let text = (0..<random.below(20)).map { _ in UInt8(random.chance(0.4) ? random.below(3) : random.below(256))
            }
            let key = written(OrderedKeyWriter.textMaximumByteCount(text.count)) { writer in
                text.withUnsafeBytes { writer.append(text: $0) }
            }
            #expect(key == text.withUnsafeBytes { OrderedKey.component($0, .string) })
        }
    }

    @Test func componentsOfDescendingElementsAreTurnedOver() {
        let key = written(40) { writer in
            writer.append(real: 1)
            let start = writer.count
            _ = writer.append(5, .int16)
            writer.invert(from: start)
        }
        #expect(key == component(1.0, .double) + component(Int16(5), .int16).map { ~$0 })
    }
}
