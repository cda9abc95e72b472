extension UnsafeRawBufferPointer {
    /// Whether all bytes are zero, as those of space are that was reserved and never used. Looks at 32 bytes at a time:
    /// opening a store may have to go through megabytes of them.
    var isZero: Bool {
        var offset = 0
        while offset + 32 <= count {
            let words = loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
            if words != .zero { return false }
            offset += 32
        }
        return self[offset...].allSatisfy { $0 == 0 }
    }
}
