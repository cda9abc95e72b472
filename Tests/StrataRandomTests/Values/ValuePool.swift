import Foundation
import StrataTestKit

/// The few values that a program uses for a type: often equal ones, among them the extremes.
enum ValuePool {
    static func values(_ kind: Kind) -> [Value] {
        switch kind {
        case .int16: [0, 1, 2, 3, 7, -1, Int64(Int16.max), Int64(Int16.min)].map(Value.int)
        case .int32: [0, 1, 2, 5, -3, Int64(Int32.max), Int64(Int32.min)].map(Value.int)
        case .int64: [0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 1 << 40, .max, .min].map(Value.int)
        case .double: [0, 1, 0.5, -2.25, 1e300, -1e-300, .infinity, -.infinity, .nan].map(Value.real)
        case .float: [0, 1, 0.5, -2.25, 0x1p100, .infinity, .nan].map(Value.real)
        case .decimal:
            ["0", "1", "0.1", "-1.5", "12345678901234567890123456789012345678", "0.00000000000000000001"].map(
                Value.text)
        case .string: texts.map(Value.text)
        case .bool: [.flag(false), .flag(true)]
        case .date: [0, 0.5, -1, 1_000_000, -63_114_076_800, 64_092_211_200].map(Value.real)
        case .data:
            [[], [0], [1, 2, 3], [255], Array(repeating: 7, count: 300)].map(Value.bytes)
        case .uuid:
            (0..<4).map { .text("0000000\($0)-0000-0000-0000-00000000000\($0)") }
        case .uri: ["https://host/0", "https://host/1", "file:///a"].map(Value.text)
        case .list: [[], ["a"], ["a", "b"]].map(Value.list)
        }
    }

    /// Among them texts that Unicode calls equivalent, and texts between such two in the order of scalars.
    private static let texts = [
        "", "a", "b", "B", "ab", "zeta", "e\u{301}clair", "\u{e9}clair", "eclair", "f", "\u{212b}", "\u{c5}",
        "A\u{30a}", "x\u{0}y", "\u{1f600}", "\u{ffff}", String(repeating: "q", count: 200), "10", "9", " a",
    ]

    static func any(_ kind: Kind, _ random: inout SeededGenerator) -> Value {
        let values = values(kind)
        return values[random.below(values.count)]
    }
}
