/// What is measured, in this order, each in a process of its own.
enum ScaleTask: String, CaseIterable, Sendable {
    case fill
    case open
    case points
    case scans
    case pages
    case updates
    case deletes

    /// Whether a contestant can do it.
    func isOffered(by contestant: ScaleContestant) -> Bool {
        switch self {
        case .fill, .open, .scans: true
        case .points, .updates, .deletes: contestant != .objects
        case .pages: contestant == .engine || contestant == .sqlite
        }
    }
}
