import StrataTestKit

@testable import StrataLog

/// Random layouts, rows and values that reach every encoding.
struct FormatGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func layout(slotsMaximum: Int = 9) -> EntityLayout {
        makeLayout((0..<random.below(slotsMaximum + 1)).map { _ in ValueKind.allCases.randomElement(using: &random)! })
    }

    mutating func rows(_ layout: EntityLayout, count: Int) -> [FormatRow] {
        let styles = layout.slots.map { _ in random.below(6) }
        let nullPercents = layout.slots.map { _ in [0, 0, 10, 90, 100][random.below(5)] }
        let firstKey = random.next() % (ObjectRef.maximumKey - 1_000_000)
        let keyStep = random.chance(percent: 70) ? 1 : random.below(50) + 2
        let ownSequences = random.chance(percent: 20)
        return (0..<count).map { row in
            FormatRow(
                key: firstKey + UInt64(row * keyStep),
                sequence: ownSequences && random.chance(percent: 50) ? random.next() % 90 + 1 : nil,
                values: layout.slots.indices.map { slot in
                    random.chance(percent: nullPercents[slot])
                        ? .null : value(layout.slots[slot].kind, style: styles[slot], row: row)
                })
        }
    }

    private mutating func integer(_ style: Int, _ row: Int) -> Int64 {
        switch style {
        case 0: 77
        case 1: Int64(row) - 5
        case 2: Int64(random.below(100)) - 50
        case 3: Int64(bitPattern: random.next())
        case 4: [Int64.min, .max, 0, -1][random.below(4)]
        default: Int64(bitPattern: random.next()) >> Int64(random.below(64))
        }
    }

    private mutating func real(_ style: Int, _ row: Int) -> Double {
        switch style {
        case 0: 0.1
        case 1: Double(row)
        case 2: Double(random.below(1_000_000)) + 1.6e9
        case 3: Double(bitPattern: random.next())
        case 4:
            [0.0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude][random.below(7)]
        default: Double(random.below(1_000)) / 10
        }
    }

    private mutating func value(_ kind: ValueKind, style: Int, row: Int) -> FormatValue {
        switch kind {
        case .bool: .bool(style == 0 || random.chance(percent: 50))
        case .int16: .int16(Int16(truncatingIfNeeded: integer(style, row)))
        case .int32: .int32(Int32(truncatingIfNeeded: integer(style, row)))
        case .int64: .int64(integer(style, row))
        case .float: .float(style == 3 ? UInt32(truncatingIfNeeded: random.next()) : Float(real(style, row)).bitPattern)
        case .double, .date: .double(real(style, row).bitPattern)
        case .reference: .reference(style < 3 ? 4 << 48 | UInt64(bitPattern: integer(2, row) + 60) : random.next())
        case .uuid: .uuid(style == 0 ? 5 : random.next(), style < 3 ? 6 : random.next())
        case .decimal, .string, .data, .uri, .transformable: bytes(style, row)
        }
    }

    private mutating func bytes(_ style: Int, _ row: Int) -> FormatValue {
        switch style {
        case 0: return .bytes([])
        case 1: return .bytes(Array("value number \(row % 7), repeated, repeated".utf8))
        case 2: return .bytes((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 3 where random.chance(percent: 20):
            return .external(
                ExternalValue(
                    segment: UInt32(random.below(1_000)) + 1, byteOffset: UInt32(random.below(1 << 30)),
                    byteCount: random.next(), storedByteCount: random.next(), checksum: 3, flags: 4))
        case 4: return .bytes(Array("0123456789abcdef".utf8))
        default: return .bytes(Array("añ≠🙂 \(random.below(1_000))".utf8))
        }
    }
}

extension SeededGenerator {
    /// True in so many of a hundred cases.
    mutating func chance(percent: Int) -> Bool { below(100) < percent }
}
