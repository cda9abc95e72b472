import Foundation
import StrataLog

/// How a property's value lies in an object's overlay and in a stored column.
@frozen
@usableFromInline
package enum SlotKind: UInt8, Sendable {
    case bool, int16, int32, int64, float, double, date, uuid, string, data, decimal, uri, transformable, toOne

    /// Bytes in the overlay; a multiple of 8.
    @inlinable package var overlayBytes: Int {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .date, .transformable, .toOne: 8
        case .uuid, .string, .data, .uri: 16
        case .decimal: 24
        }
    }

    /// Whether the value in the overlay owns something that must be released.
    @inlinable package var isReferenceCounted: Bool {
        switch self {
        case .string, .data, .uri, .transformable, .toOne: true
        default: false
        }
    }

    /// Whether key-value coding has the values as numbers that are not decimal: scalars, which have no nil.
    @inlinable package var isNumber: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double: true
        default: false
        }
    }

    /// Whether values are whole numbers of a limited range.
    @inlinable package var hasRange: Bool { self == .int16 || self == .int32 || self == .int64 }

    package var valueKind: ValueKind {
        switch self {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .date: .date
        case .uuid: .uuid
        case .string: .string
        case .data: .data
        case .decimal: .decimal
        case .uri: .uri
        case .transformable: .transformable
        case .toOne: .reference
        }
    }
}
