/// Where something lies in a text file, for errors.
struct TextPlace: Equatable, CustomStringConvertible {
    /// Nil where there is only one file.
    var path: String?
    /// From 1.
    var line: Int
    /// In characters (Unicode scalars) from 1; 0 for the line as a whole.
    var column = 0

    /// "a.csv, line 3, column 7".
    var description: String {
        (path.map { "\($0), " } ?? "") + "line \(line)" + (column > 0 ? ", column \(column)" : "")
    }

    /// The place in the same line.
    func at(_ column: Int) -> TextPlace { TextPlace(path: path, line: line, column: column) }

    func error(_ problem: String) -> TransferError { TransferError("\(self): \(problem)") }
}
