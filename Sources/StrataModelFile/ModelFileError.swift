/// Why a model file could not be read or written.
public struct ModelFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it was. More kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, Sendable {
            case unreadable, damaged, unsupportedVersion, unwritable
        }

        private let kind: Kind

        /// The file is missing, or the system refused to read it.
        public static let unreadable = Code(kind: .unreadable)
        /// The contents are no model, or a damaged one.
        public static let damaged = Code(kind: .damaged)
        /// The file was written by a newer version of the library.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)
        /// The file could not be written.
        public static let unwritable = Code(kind: .unwritable)

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
