import DataSet

/// Where an ordered page begins: with the first person of an age, or with the first from a name on.
public struct PageStart: Equatable, Sendable {
    public let age: Int16
    public let name: String?
}

/// Which pages are asked for one after the other.
public enum PageOrder: String, CaseIterable, Sendable {
    /// Always the same.
    case same
    /// The first page of each age in turn: 100 pages, again and again.
    case ages
    /// As somebody scrolls through a list: from a person on, and never twice the same.
    case cursors

    /// What comes behind the name of a metric.
    public var suffix: String { self == .same ? "" : "_\(rawValue)" }

    /// - Parameter rowCount: of the store.
    public func starts(_ count: Int, rowCount: Int) -> [PageStart] {
        var random = SplitMix64(11)
        return (0..<count).map { number in
            switch self {
            case .same: return PageStart(age: Workload.pageAge, name: nil)
            case .ages: return PageStart(age: Int16(number % 100), name: nil)
            case .cursors:
                let row = PersonRow(id: random.next() % UInt64(rowCount) + 1)
                return PageStart(age: row.age, name: row.name)
            }
        }
    }
}
