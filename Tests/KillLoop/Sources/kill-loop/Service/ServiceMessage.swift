#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a serving process tells, two numbers at a time: an acknowledged order with its revision, or a figure.
enum ServiceMessage {
    enum Figure: UInt64, CaseIterable {
        case requests = 0xFFFF_FFFF_FFFF_0000
        case conflicts
        case residentBefore
        case residentAtEnd
        case residentAfterIdling
        case residentAfterTrim
        case threadsAtEnd
        case threadsAfterIdling
    }

    static func acknowledge(_ number: Int64, revision: Int64) { tell(UInt64(number), UInt64(revision)) }

    static func report(_ figure: Figure, _ value: Int) { tell(figure.rawValue, UInt64(value)) }

    private static func tell(_ first: UInt64, _ second: UInt64) {
        // Sixteen bytes go into a pipe whole or not at all, whatever thread writes.
        let count = withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) {
            write(1, $0.baseAddress, $0.count)
        }
        if count != 16 { exit(3) }
    }
}
