import Foundation

extension ModelDocument {
    /// A default value, a limit, or a value of user info.
    public enum Value: Codable, Equatable, Sendable {
        /// Text; also what stands for UUIDs and URIs.
        case string(String)
        /// An integer.
        case integer(Int64)
        /// A floating point number.
        case real(Double)
        /// A decimal number, as text, so that no digit is lost.
        case decimal(String)
        /// A truth value.
        case boolean(Bool)
        /// A point in time, in seconds since 2001-01-01 00:00:00 UTC.
        case date(Double)
        /// Bytes.
        case data(Data)
        /// Values in an order.
        case array([Value])
        /// Values by name.
        case dictionary([String: Value])
    }
}
