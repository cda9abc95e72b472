/// Why there is no page.
public struct StrataPageError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. More may follow.
    public struct Code: Sendable, Hashable {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The cursor is of another entity, order or store. A client's mistake, which calls for status 400.
        public static let foreignCursor = Code("foreignCursor")
        /// The cursor was changed on its way. A client's mistake, too.
        public static let damagedCursor = Code("damagedCursor")
        /// The page would have no results: its limit is not positive.
        public static let invalidLimit = Code("invalidLimit")
        /// The order is not one that a cursor can say a place in.
        public static let unsupportedOrder = Code("unsupportedOrder")
        /// The request has something of its own that pages do not go with, such as an offset.
        public static let unsupportedRequest = Code("unsupportedRequest")
        /// The context is a child's, or the entity is in several stores or in a custom one.
        public static let unsupportedStore = Code("unsupportedStore")
        /// The page begins or ends with an object that is not saved, which nobody could find again.
        public static let unsavedObject = Code("unsavedObject")
        /// The value of a sort key is too long to be part of a cursor.
        public static let valueTooLong = Code("valueTooLong")
    }

    /// What went wrong.
    public let code: Code
    /// What is wrong, and where.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What is wrong, and where.
    public var description: String { message }
}
