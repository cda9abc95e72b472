public import Foundation
public import StrataLog

// What the error says as its localizedDescription, which otherwise names its type and a number.

extension StoreError: LocalizedError {
    /// What went wrong, with where.
    public var errorDescription: String? { description }
}
