import Foundation
import StrataBrowsing

/// What the program that has a store open for writing has told of its cache, in the file `NAME.strata-status` that
/// StrataService writes beside it.
struct ProgramCache: Decodable {
    private struct Counters: Decodable {
        let cacheHits: Int
        let cacheMisses: Int
    }

    private let process: Int32
    private let program: String
    private let time: Double
    private let cacheBytes: Int
    private let counters: Counters

    /// - Returns: nil where nothing is told, or nothing that can be read.
    static func read(besideStoreAt store: URL) -> ProgramCache? {
        guard let cache = StatusFile.read(Self.self, besideStoreAt: store), cache.time.isFinite, abs(cache.time) < 1e11
        else { return nil }
        return cache
    }

    /// For people and programs: of all stores of the program, since it began.
    var figures: [(String, Cell)] {
        let (hits, misses) = (Double(counters.cacheHits), Double(counters.cacheMisses))
        let share = hits + misses > 0 ? Cell.number(String(format: "%.1f", hits / (hits + misses) * 100)) : .absent
        return [
            ("cache", .bytes(cacheBytes)), ("cache hits in percent", share),
            (
                "cache told by",
                .text("\(program), process \(process), at \(Point.text(Date(timeIntervalSince1970: time)))")
            ),
        ]
    }
}
