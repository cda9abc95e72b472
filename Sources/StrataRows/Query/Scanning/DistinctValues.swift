/// The values that rows of each group have, of which each counts once, as in `count:(distinct:(x))`.
struct DistinctValues {
    /// Of a group's number and a value's code.
    private var pairs = GroupTable(width: 2)
    /// The values that are told apart by bytes: their code is their position.
    private var strings = ByteStringSet()

    var count: Int { pairs.count }

    /// Says whether the group has not had the value before.
    mutating func insert(_ code: UInt64, group: Int) -> Bool {
        let count = pairs.count
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2) { key in
            key[0] = UInt64(group)
            key[1] = code
            return pairs.find(UnsafeBufferPointer(key), nulls: 0) == count
        }
    }

    mutating func insert(_ bytes: UnsafeRawBufferPointer, group: Int) -> Bool {
        insert(UInt64(strings.insert(bytes)), group: group)
    }

    /// A group and the code of one of its values.
    subscript(index: Int) -> (group: Int, code: UInt64) {
        let codes = pairs.codes(of: index)
        return (Int(codes[codes.startIndex]), codes[codes.startIndex + 1])
    }

    /// Calls the body with the bytes of a value.
    func withBytes<Result>(_ code: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try strings.withString(Int(code), body)
    }
}
