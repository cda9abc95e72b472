import StrataIO
import StrataTestKit
import SystemPackage
import Testing

/// Random calls on one file, compared with an array of bytes.
@Suite struct ModelTests {
    static let cases = FileSystemKind.allCases.flatMap { kind in (0..<20).map { (kind, UInt64($0)) } }

    @Test(arguments: cases) func randomChangesMatchAnArray(kind: FileSystemKind, seed: UInt64) throws {
        try kind.withDirectory { fs, directory in
            var generator = SeededGenerator(seed: seed)
            let file = try fs.open(directory.appending("a"), .create)
            let reach = [2000, 40_000, 400_000][generator.below(3)]
            var expected: [UInt8] = []
            for step in 0..<150 {
                let offset = generator.below(reach)
                let count = generator.below(reach / 4)
                switch generator.below(8) {
                case 0:
                    expected = Array(expected.prefix(offset)) + Self.zeros(max(0, offset - expected.count))
                    try file.truncate(to: Int64(offset))
                case 1 where count > 0:
                    expected += Self.zeros(max(0, offset + count - expected.count))
                    try file.preallocate(from: Int64(offset), byteCount: Int64(count))
                case 2:
                    let part = Array(expected.dropFirst(offset).prefix(count))
                    #expect(try file.bytes(count, at: Int64(offset)) == part, "seed \(seed), step \(step)")
                case 3 where offset < expected.count:
                    let part = Array(expected.dropFirst(offset).prefix(count))
                    let region = try file.map(from: Int64(offset), byteCount: part.count)
                    #expect(Array(region.bytes) == part, "seed \(seed), step \(step)")
                default:
                    let isAppend = generator.chance(0.5)
                    let start = isAppend ? expected.count : offset
                    guard start + count < 4 * reach, count > 0 else { continue }
                    let bytes = [UInt8](repeating: UInt8(step + 1), count: count)
                    expected += Self.zeros(max(0, start + count - expected.count))
                    expected.replaceSubrange(start..<start + count, with: bytes)
                    try file.write(bytes, at: Int64(start))
                }
            }
            #expect(try file.byteCount() == expected.count)
            #expect(try file.bytes(expected.count + 1) == expected, "seed \(seed)")
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: count)
    }
}
