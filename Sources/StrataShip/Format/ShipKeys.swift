/// The names of objects in a bucket. Numbers have a fixed width, so that the order of the names is that of the log.
package enum ShipKey {
    /// The only object that is ever replaced.
    package static let head = "head"
    /// What the log's objects begin with.
    package static let logPrefix = "log/"
    package static let checkpointPrefix = "chk/"
    package static let probePrefix = "probe/"
    /// Written to learn the bucket's time.
    package static let clock = "probe/clock"

    /// The piece of a segment's log that begins at an offset; the fence that ends an epoch has the name of one.
    package static func piece(_ epoch: UInt32, _ segment: UInt32, _ offset: Int) -> String {
        "log/\(hex(epoch))/\(hex(segment))/\(hex(UInt64(offset), 10))"
    }

    /// A sealed segment as one object.
    package static func whole(_ epoch: UInt32, _ segment: UInt32) -> String {
        "log/\(hex(epoch))/\(hex(segment))/whole"
    }

    package static func checkpoint(_ epoch: UInt32, _ number: UInt32) -> String {
        "chk/\(hex(epoch))/\(hex(number))"
    }

    package static func epochPrefix(_ epoch: UInt32) -> String { "log/\(hex(epoch))/" }

    static func hex(_ number: UInt32) -> String { hex(UInt64(number), 8) }

    static func hex(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// What a name says.
    package enum Name: Hashable {
        case piece(epoch: UInt32, segment: UInt32, offset: Int)
        case whole(epoch: UInt32, segment: UInt32)
        case checkpoint(epoch: UInt32, number: UInt32)
    }

    /// What a name says; nil for others than those of pieces, segments and checkpoints.
    package static func parse(_ key: String) -> Name? {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let epoch = number(parts[1], 8), let second = number(parts[2], 8) else { return nil }
        let name: Name
        if parts.count == 3, parts[0] == "chk" {
            name = .checkpoint(epoch: UInt32(epoch), number: UInt32(second))
        } else if parts.count == 4, parts[0] == "log" {
            if parts[3] == "whole" {
                name = .whole(epoch: UInt32(epoch), segment: UInt32(second))
            } else if let offset = number(parts[3], 10) {
                name = .piece(epoch: UInt32(epoch), segment: UInt32(second), offset: Int(offset))
            } else {
                return nil
            }
        } else {
            return nil
        }
        return name
    }

    private static func number(_ text: Substring, _ width: Int) -> UInt64? {
        guard text.utf8.count == width,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return UInt64(text, radix: 16)
    }
}
