/// The order of Debian version strings (`[epoch:]upstream[-revision]`).
public enum DebianVersion {
    /// Whether one version is earlier than another by the rules of Debian's policy (section 5.6.12).
    ///
    /// - Complexity: O(`left.count + right.count`).
    public static func isEarlier(_ left: String, than right: String) -> Bool { compare(left, right) < 0 }

    /// Less than, equal to or greater than zero as the first version is earlier, the same or later.
    public static func compare(_ left: String, _ right: String) -> Int {
        let left = Parts(left)
        let right = Parts(right)
        let epochs = comparePart(left.epoch, right.epoch)
        if epochs != 0 { return epochs }
        let upstreams = comparePart(left.upstream, right.upstream)
        return upstreams != 0 ? upstreams : comparePart(left.revision, right.revision)
    }

    private struct Parts {
        var epoch: ArraySlice<UInt8> = []
        var upstream: ArraySlice<UInt8>
        var revision: ArraySlice<UInt8> = []

        init(_ version: String) {
            upstream = Array(version.utf8)[...]
            if let colon = upstream.firstIndex(of: UInt8(ascii: ":")) {
                epoch = upstream[..<colon]
                upstream = upstream[(colon + 1)...]
            }
            if let hyphen = upstream.lastIndex(of: UInt8(ascii: "-")) {
                revision = upstream[(hyphen + 1)...]
                upstream = upstream[..<hyphen]
            }
        }
    }

    /// Compares runs of non-digits, then runs of digits as numbers, and so on.
    private static func comparePart(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        var left = left
        var right = right
        while !left.isEmpty || !right.isEmpty {
            while left.first.map({ !isDigit($0) }) ?? false || right.first.map({ !isDigit($0) }) ?? false {
                let difference = rank(left.first) - rank(right.first)
                if difference != 0 { return difference }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            let difference = compareNumbers(&left, &right)
            if difference != 0 { return difference }
        }
        return 0
    }

    /// Takes the digits off both and compares them by value; they may be longer than any integer.
    private static func compareNumbers(_ left: inout ArraySlice<UInt8>, _ right: inout ArraySlice<UInt8>) -> Int {
        let first = left.prefix(while: isDigit)
        let second = right.prefix(while: isDigit)
        left = left[first.endIndex...]
        right = right[second.endIndex...]
        let significantFirst = first.drop { $0 == UInt8(ascii: "0") }
        let significantSecond = second.drop { $0 == UInt8(ascii: "0") }
        if significantFirst.count != significantSecond.count {
            return significantFirst.count < significantSecond.count ? -1 : 1
        }
        for (one, other) in zip(significantFirst, significantSecond) where one != other { return one < other ? -1 : 1 }
        return 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// A tilde comes before everything, even the end; then the end and digits, letters, all other signs.
    private static func rank(_ byte: UInt8?) -> Int {
        guard let byte, !isDigit(byte) else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        let lowercase = byte | 0x20
        let isLetter = lowercase >= UInt8(ascii: "a") && lowercase <= UInt8(ascii: "z")
        return isLetter ? Int(byte) : Int(byte) + 256
    }
}
