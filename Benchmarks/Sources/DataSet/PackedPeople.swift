/// All rows as packed bytes in one buffer: what the peers without a schema store, and where SQLite's text is bound
/// from without a copy.
///
/// A row: u16 age, u8 active, u8 name length, u8 email length, u8 bio length, u16 zero, u32 department, f64 score,
/// f64 created, then the text.
public final class PackedPeople: @unchecked Sendable {
    // Unchecked: the bytes are written in the initialiser only.
    @usableFromInline
    let bytes: UnsafeMutableRawBufferPointer
    @usableFromInline
    let offsets: [Int]
    /// The number of the first row.
    @usableFromInline
    let first: UInt64

    public static let headerByteCount = 28

    /// - Parameter rows: numbered one after the other.
    public init(_ rows: [PersonRow]) {
        first = rows.first?.id ?? 1
        var offsets = [0]
        offsets.reserveCapacity(rows.count + 1)
        for row in rows { offsets.append(offsets[offsets.count - 1] + Self.packedByteCount(row)) }
        self.offsets = offsets
        bytes = .allocate(byteCount: max(1, offsets[rows.count]), alignment: 8)
        for (index, row) in rows.enumerated() {
            Self.pack(row, into: UnsafeMutableRawBufferPointer(rebasing: bytes[offsets[index]..<offsets[index + 1]]))
        }
    }

    deinit {
        bytes.deallocate()
    }

    public var count: Int { offsets.count - 1 }

    /// Bytes of all rows.
    public var byteCount: Int { offsets[count] }

    /// The row with number `id`. Valid as long as this object.
    @inlinable
    public func row(_ id: UInt64) -> PackedPerson {
        let index = Int(id - first)
        return PackedPerson(bytes: UnsafeRawBufferPointer(rebasing: bytes[offsets[index]..<offsets[index + 1]]))
    }

    /// Bytes of the rows `first...last`, which lie side by side.
    public func rows(_ first: UInt64, _ last: UInt64) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offsets[Int(first - self.first)]..<offsets[Int(last - self.first) + 1]])
    }

    /// Bytes that one row takes when packed: the payload that write amplification is counted against.
    public static func packedByteCount(_ row: PersonRow) -> Int {
        headerByteCount + row.name.utf8.count + row.email.utf8.count + row.bio.utf8.count
    }

    private static func pack(_ row: PersonRow, into target: UnsafeMutableRawBufferPointer) {
        target.storeBytes(of: row.age, toByteOffset: 0, as: Int16.self)
        target[2] = row.active ? 1 : 0
        target[3] = UInt8(row.name.utf8.count)
        target[4] = UInt8(row.email.utf8.count)
        target[5] = UInt8(row.bio.utf8.count)
        target.storeBytes(of: 0, toByteOffset: 6, as: UInt16.self)
        target.storeBytes(of: row.department, toByteOffset: 8, as: UInt32.self)
        target.storeBytes(of: row.score, toByteOffset: 12, as: Double.self)
        target.storeBytes(of: row.created, toByteOffset: 20, as: Double.self)
        var position = headerByteCount
        for text in [row.name, row.email, row.bio] {
            UnsafeMutableRawBufferPointer(rebasing: target[position...]).copyBytes(from: text.utf8)
            position += text.utf8.count
        }
    }
}

/// A view of one packed row.
public struct PackedPerson {
    public let bytes: UnsafeRawBufferPointer

    @inlinable
    public init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    public static let scoreOffset = 12

    @inlinable public var age: Int16 { bytes.loadUnaligned(fromByteOffset: 0, as: Int16.self) }
    @inlinable public var active: Bool { bytes[2] != 0 }
    @inlinable public var department: UInt32 { bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
    @inlinable public var score: Double { bytes.loadUnaligned(fromByteOffset: Self.scoreOffset, as: Double.self) }
    @inlinable public var created: Double { bytes.loadUnaligned(fromByteOffset: 20, as: Double.self) }
    @inlinable public var name: UnsafeRawBufferPointer { text(PackedPeople.headerByteCount, Int(bytes[3])) }
    @inlinable public var email: UnsafeRawBufferPointer {
        text(PackedPeople.headerByteCount + Int(bytes[3]), Int(bytes[4]))
    }
    @inlinable public var bio: UnsafeRawBufferPointer {
        text(PackedPeople.headerByteCount + Int(bytes[3]) + Int(bytes[4]), Int(bytes[5]))
    }

    @inlinable public var digest: UInt64 {
        DataSet.digest(
            age: age, department: UInt64(department), score: score, created: created, active: active,
            name: name, email: email, bio: bio)
    }

    @inlinable
    func text(_ offset: Int, _ byteCount: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + byteCount])
    }
}
