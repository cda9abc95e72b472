@testable import StrataLog

/// What a slot holds, compared bit for bit.
enum FormatValue: Equatable {
    case null
    case bool(Bool)
    case int16(Int16)
    case int32(Int32)
    case int64(Int64)
    case float(UInt32)
    case double(UInt64)
    case reference(UInt64)
    case uuid(UInt64, UInt64)
    case bytes([UInt8])
    case external(ExternalValue)
}

struct FormatRow: Equatable {
    var key: UInt64
    /// Nil: the block's.
    var sequence: UInt64?
    var values: [FormatValue]
}
