/// One row of the data set. Rows are a function of their number alone: the same in every run and every peer.
public struct PersonRow: Sendable {
    /// 1 and up.
    public var id: UInt64
    public var age: Int16
    public var active: Bool
    /// 1...``departmentCount``.
    public var department: UInt32
    public var score: Double
    /// Seconds since 1970, a whole number.
    public var created: Double
    /// 12 to 20 bytes of ASCII.
    public var name: String
    /// 28 bytes of ASCII.
    public var email: String
    /// 40 to 120 bytes of ASCII.
    public var bio: String

    public static let departmentCount = 1_000

    /// Row number `id`.
    public init(id: UInt64) {
        var random = SplitMix64(42 &+ id &* 0xD134_2543_DE82_EF95)
        let bits = random.next()
        self.id = id
        age = Int16(bits % 100)
        active = (bits >> 32) & 1 == 1
        department = UInt32((bits >> 33) % UInt64(Self.departmentCount)) + 1
        score = Double(random.next() >> 11) * (1.0 / 9_007_199_254_740_992.0) * 1_000.0
        created = 1.6e9 + Double(random.next() % 100_000_000)
        let lengths = random.next()
        name = Self.syllables(byteCount: 12 + Int(lengths % 9), &random)
        email = Self.syllables(byteCount: 10, &random) + Self.sixDigits(id % 1_000_000) + "@example.org"
        bio = Self.text(byteCount: 40 + Int((lengths >> 16) % 81), &random)
    }

    /// Rows 1...count.
    public static func all(_ count: Int) -> [PersonRow] {
        (0..<count).map { PersonRow(id: UInt64($0) + 1) }
    }

    /// The sum that a contestant must find when it reads every field.
    public var digest: UInt64 {
        DataSet.digest(
            age: age, department: UInt64(department), score: score, created: created, active: active,
            name: name, email: email, bio: bio)
    }

    private static func syllables(byteCount: Int, _ random: inout SplitMix64) -> String {
        var bytes: [UInt8] = []
        while bytes.count < byteCount { bytes += Vocabulary.syllables[Int(random.next() % 64)] }
        return String(decoding: bytes.prefix(byteCount), as: UTF8.self)
    }

    private static func sixDigits(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    private static func text(byteCount: Int, _ random: inout SplitMix64) -> String {
        var bytes: [UInt8] = []
        while bytes.count < byteCount {
            let bits = random.next()
            if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
            bytes += (bits >> 32) % 1024 == 0 ? Vocabulary.needle : Vocabulary.words[Int(bits % 256)]
        }
        return String(decoding: bytes.prefix(byteCount), as: UTF8.self)
    }
}

/// The name of department `number`.
public func departmentName(_ number: Int) -> String {
    let digits = String(number)
    return "Department " + String(repeating: "0", count: 4 - digits.utf8.count) + digits
}

/// Whether the delete workloads remove the row: about every other one.
public func deletedHalf(_ id: UInt64) -> Bool {
    var random = SplitMix64(id &* 77)
    return random.next() & 1 == 1
}

/// The score that an update with random bits `bits` writes.
@inlinable
public func newScore(_ bits: UInt64) -> Double {
    Double(bits % 1_000_000) / 1_000.0
}

/// Which of `count` rows an update with random bits `bits` changes: 1...count.
@inlinable
public func updatedID(_ bits: UInt64, of count: Int) -> UInt64 {
    (bits >> 20) % UInt64(count) + 1
}
