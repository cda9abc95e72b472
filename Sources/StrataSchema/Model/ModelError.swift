/// Why a model could not be used, encoded or read.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it was. More kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, Sendable {
            case invalidModel, notEncodable, damaged, unsupportedVersion, unreadable, transformation
        }

        private let kind: Kind

        /// The model contradicts itself: an inverse that does not lead back, two entities of one name, ...
        public static let invalidModel = Code(kind: .invalidModel)
        /// The model holds something that cannot be kept in a file, such as a predicate made of a block.
        public static let notEncodable = Code(kind: .notEncodable)
        /// The bytes are no encoded model, or a damaged one.
        public static let damaged = Code(kind: .damaged)
        /// The bytes were written by a newer version of the library.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)
        /// The file could not be read or the directory holds no model.
        public static let unreadable = Code(kind: .unreadable)
        /// A value transformer is missing or refused a value.
        public static let transformation = Code(kind: .transformation)

        /// A text for logs and for debugging; not to be parsed.
        public var description: String { kind.rawValue }
    }

    /// What kind of failure it was.
    public let code: Code
    /// What is wrong, and where.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A text for logs and for debugging; not to be parsed.
    public var description: String { "\(code): \(message)" }
}
