public import Foundation

// What errors that are not Core Data's say as their localizedDescription, which otherwise names their type and a
// number.

extension PredicateFormatError: LocalizedError {
    /// The reason, the position and the text around it.
    public var errorDescription: String? { description }
}

extension PredicateConversionError: LocalizedError {
    /// What cannot be converted, and what could be done about it.
    public var errorDescription: String? { description }
}

extension ModelError: LocalizedError {
    /// What is wrong, and where.
    public var errorDescription: String? { message }
}
