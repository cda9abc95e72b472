import Foundation
import StrataBrowsing

/// What the program that has a store open for writing tells of what it keeps from being freed.
struct ProgramRetention: Decodable {
    private struct Retained: Decodable {
        let pinnedBytes: Int
        let pinnedSince: Double?
        let consumers: [Consumer]
    }

    private struct Consumer: Decodable {
        let name: String
        let acknowledged: Int?
    }

    // As StrataService has them: a program of which nothing happens writes every ten seconds, and may be late.
    private static let idleSeconds = 10.0
    private static let patienceSeconds = 10.0
    private static let consumerMaximum = 20

    private let process: Int32
    private let processSpace: String?
    private let program: String
    private let time: Double
    private let intervalSeconds: Double
    private let retained: Retained?

    /// - Returns: nil where no program tells, or one that does not run any more.
    static func read(besideStoreAt store: URL) -> ProgramRetention? {
        guard let told = StatusFile.read(Self.self, besideStoreAt: store), told.isSound, told.isLive else { return nil }
        return told
    }

    private var isSound: Bool {
        guard let retained else { return false }
        let times = [time, intervalSeconds, retained.pinnedSince ?? 0]
        return times.allSatisfy { (0..<1e11).contains($0) } && (0..<1 << 60).contains(retained.pinnedBytes)
    }

    private var isLive: Bool {
        let files = FileManager.default
        let ownSpace = try? files.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        if let ownSpace, ownSpace == processSpace, !files.fileExists(atPath: "/proc/\(process)") { return false }
        let age = abs(Date().timeIntervalSince1970 - time)
        return age <= max(Self.idleSeconds, intervalSeconds) + Self.patienceSeconds
    }

    /// For people and programs.
    var figures: [(String, Cell)] {
        guard let retained else { return [] }
        return [
            ("pinned by snapshots bytes", .bytes(retained.pinnedBytes)),
            ("pinned since", retained.pinnedSince.map { Self.time($0) } ?? .absent),
            ("pinned told by", .text("\(program), process \(process)")),
        ]
    }

    /// Consumers that the program waits for and that have never acknowledged anything: the store knows nothing of them.
    var awaitedConsumers: Set<String> {
        Set(retained?.consumers.filter { $0.acknowledged == nil }.prefix(Self.consumerMaximum).map(\.name) ?? [])
    }

    private static func time(_ seconds: Double) -> Cell {
        .text(Point.text(Date(timeIntervalSince1970: seconds)))
    }
}
