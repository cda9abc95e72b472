/// How large a program's data is.
enum Profile: String, CaseIterable, Codable {
    /// Few objects, and many operations of every kind.
    case graph
    /// Some hundreds of rows at once.
    case rows
    /// Thousands of rows, so that scans work on columns; mostly requests.
    case bulk

    var operations: Int {
        switch self {
        case .graph: 250
        case .rows: 150
        case .bulk: 40
        }
    }
}
