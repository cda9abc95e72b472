/// What a visited atomic part adds to a digest.
@inlinable
public func partDigest(id: Int64, x: Int64, y: Int64, buildDate: Int64) -> UInt64 {
    UInt64(bitPattern: id &* 3 &+ x &* 5 &+ y &* 7 &+ buildDate &* 11)
}

/// What an assembly adds.
@inlinable
public func assemblyDigest(id: Int64, buildDate: Int64) -> UInt64 {
    UInt64(bitPattern: id &* 13 &+ buildDate)
}

/// What a pair of Q8 adds.
@inlinable
public func pairDigest(part: Int64, document: Int64, titleByteCount: Int) -> UInt64 {
    UInt64(bitPattern: part &* 17 &+ document &+ Int64(titleByteCount))
}

/// How many of the bytes are ``OO7/wantedByte``.
public func countWanted(in bytes: UnsafeRawBufferPointer) -> UInt64 {
    var count: UInt64 = 0
    for byte in bytes where byte == OO7.wantedByte { count += 1 }
    return count
}

/// As ``countWanted(in:)-(UnsafeRawBufferPointer)``, of a string.
public func countWanted(in text: consuming String) -> UInt64 {
    text.withUTF8 { countWanted(in: UnsafeRawBufferPointer($0)) }
}
