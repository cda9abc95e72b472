/// Why a package index could not be read.
///
/// The description names the file, the line where there is one, and what is wrong, in the form compilers use
/// (`path:line: reason`), so that editors can jump there.
public struct IndexError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable { case unreadable, compression, malformed, empty }
        private let value: Value

        /// The system refused to open or read the file.
        public static let unreadable = Code(value: .unreadable)
        /// The file is compressed in a way this program does not read, or its compressed bytes are damaged.
        public static let compression = Code(value: .compression)
        /// The bytes are not those of a Debian package index.
        public static let malformed = Code(value: .malformed)
        /// The index is well formed and holds no package.
        public static let empty = Code(value: .empty)
    }

    /// The kind of the failure.
    public let code: Code
    /// The file being read.
    public let path: String
    /// The line, counted from 1, where the failure has one.
    public let line: Int?
    /// What is wrong, without the place.
    public let reason: String

    init(_ code: Code, path: String, line: Int? = nil, _ reason: String) {
        self.code = code
        self.path = path
        self.line = line
        self.reason = reason
    }

    public var description: String {
        if let line { "\(path):\(line): \(reason)" } else { "\(path): \(reason)" }
    }
}
