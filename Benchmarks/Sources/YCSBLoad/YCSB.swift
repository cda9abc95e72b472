import DataSet

/// The records of YCSB: a key and ten fields of 100 bytes. A function of their numbers alone, so that every contestant
/// holds the same.
///
/// Source: Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010, and its core workloads.
public enum YCSB {
    public static let fieldCount = 10
    public static let fieldByteCount = 100
    /// A scan takes up to so many records.
    public static let longestScan = 100

    /// The key of a record, which lies anywhere among those of others. `number` counts from 0.
    public static func key(_ number: Int) -> String {
        let digits = String(mix(number) >> 1)
        return "user" + String(repeating: "0", count: 19 - digits.count) + digits
    }

    /// Text of one field, another one for each draw.
    public static func value(_ draw: UInt64) -> String {
        var random = SplitMix64(draw)
        return String(unsafeUninitializedCapacity: fieldByteCount) { bytes in
            for index in 0..<fieldByteCount { bytes[index] = UInt8(random.next() % 95) + 32 }
            return fieldByteCount
        }
    }

    /// All fields of a new record.
    public static func values(_ number: Int) -> [String] {
        (0..<fieldCount).map { value(mix(number) &+ UInt64($0)) }
    }

    static func mix(_ number: Int) -> UInt64 {
        var random = SplitMix64(UInt64(number) &+ 77)
        return random.next()
    }
}

/// What a field adds to a digest.
public func fieldDigest(_ text: consuming String) -> UInt64 {
    text.withUTF8 { fieldDigest(UnsafeRawBufferPointer($0)) }
}

/// The same over bytes where they lie.
public func fieldDigest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.isEmpty ? 0 : UInt64(bytes.count) &* 257 &+ UInt64(bytes[0]) &+ UInt64(bytes[bytes.count - 1]) &* 31
}
