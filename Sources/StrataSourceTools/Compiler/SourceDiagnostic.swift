/// Something to be said about a place in a source file, in the compilers' form.
public struct SourceDiagnostic: Error, CustomStringConvertible, Equatable {
    /// The file.
    public let path: String
    /// From 1.
    public let line: Int
    /// From 1.
    public let column: Int
    /// What the matter is, and what to do.
    public let message: String

    init(_ file: SourceText, _ offset: Int, _ message: String) {
        let origin = file.origin(offset)
        (path, line) = (origin.path, origin.line)
        column = file.position(offset).column
        self.message = message
    }

    /// `file:line:column: error: message`.
    public var description: String { "\(path):\(line):\(column): error: \(message)" }
}
