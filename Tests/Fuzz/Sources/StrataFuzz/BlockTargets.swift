@testable import StrataLog

/// Blocks of rows, and values that are stored by themselves.
enum BlockTargets {
    static let all = [
        FuzzTarget("block", seeds: { seeds() }) { run($0, reseals: false) },
        FuzzTarget("block-resealed", seeds: { seeds() }) { run($0, reseals: true) },
        FuzzTarget("large-value", seeds: { largeValues() }) { largeValue($0) },
    ]

    /// Schemas that the first byte of an input chooses from: every kind alone, then mixtures.
    private static let layouts: [EntityLayout] = {
        var generator = FormatGenerator(seed: 8)
        return ValueKind.allCases.map { makeLayout([$0]) } + [makeLayout(ValueKind.allCases), makeLayout([])]
            + (0..<16).map { _ in generator.layout(slotsMaximum: 6) }
    }()

    /// Layout, then whether to verify first, then the block.
    private static func seeds() -> [[UInt8]] {
        var generator = FormatGenerator(seed: 9)
        var seeds: [[UInt8]] = []
        for (number, layout) in layouts.enumerated() {
            for count in [0, 1, 3, 20, 40] {
                let bytes = stamped(encode(generator.rows(layout, count: count), layout)).bytes
                if bytes.count < 4000 { seeds.append([UInt8(number), UInt8(count % 2)] + bytes) }
            }
        }
        return seeds
    }

    private static func run(_ input: [UInt8], reseals: Bool) {
        guard input.count > 2 else { return }
        let layout = layouts[Int(input[0]) % layouts.count]
        var bytes = Array(input[2...])
        if reseals {
            bytes.withUnsafeMutableBytes {
                Reseal.block(
                    $0,
                    at: LogAddress(
                        storeUUID: FormatPosition.storeUUID, segment: FormatPosition.location.segment,
                        offset: FormatPosition.location.byteOffset, sequence: 0))
            }
        }
        guard let block = try? load(bytes, layout) else { return }
        try? Probe.read(block, verifyFirst: input[1] & 1 == 1)
    }

    private static let place = LogAddress(storeUUID: FormatPosition.storeUUID, segment: 1, offset: 64, sequence: 0)

    private static func largeValues() -> [[UInt8]] {
        let text = Array(String(repeating: "large value ", count: 100).utf8)
        let noise = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let two = [UInt8](repeating: 7, count: 300_000)
        return [text, noise, two].map { value in
            var bytes = value.withUnsafeBytes { LargeValue.encode($0) }
            _ = LargeValue.stamp(&bytes, at: place)
            return bytes
        }
    }

    private static func largeValue(_ input: [UInt8]) {
        var resealed = input
        resealed.withUnsafeMutableBytes { Reseal.largeValue($0, at: place) }
        for bytes in [input, resealed] {
            bytes.withUnsafeBytes { bytes in
                _ = LargeValue.verify(bytes, at: place)
                _ = LargeValue.decode(bytes)
            }
        }
    }
}

/// Reads everything that can be read.
enum Probe {
    static func read(_ block: Block, verifyFirst: Bool) throws {
        if verifyFirst { try block.verify() }
        var sum = block.estimatedByteCount
        for slot in 0..<block.slotCount {
            let view = verifyFirst ? block.verifiedColumn(slot) : try block.column(slot)
            _ = block.zone(slot)
            for row in 0..<block.rowCount {
                if view.isExternal(row) { sum &+= Int(view.external(row).flags) }
                if view.width == 0 { sum = view.bytes(row).reduce(sum) { $0 &+ Int($1) } }
                sum &+= value(view, row) == .null ? 1 : 0
            }
        }
        for row in 0..<block.rowCount {
            sum &+= block.ref(row).hashValue &+ Int(truncatingIfNeeded: block.sequence(row))
        }
        sink = sum
    }

    /// Keeps the reads from being optimised away.
    nonisolated(unsafe) static var sink = 0
}
