import BenchSupport
import Foundation
import ServiceLoad

/// Every figure that is promised of a service, for both ways to ask.
struct Targets {
    /// What readers reached behind a semaphore when each waited for the others' locks, times five.
    private static let mixedRate = 5 * 738.0
    private static let mixedMilliseconds = 50.0
    /// Of all the cores that clients could use: those that ask take a part.
    private static let coreShare = 0.75

    let results: Results
    let options: Options

    func lines(for shape: Shape) -> [String] {
        let ours = Contestant.ours.filter(options.contestants.contains)
        return ours.flatMap { contestant -> [String] in
            var targets = scaling(shape, contestant) + againstSQLite(shape, contestant)
            targets += mixed(shape, contestant) + writers(shape, contestant)
            return targets.filter { $0.value != nil }.map(\.line)
        }
    }

    private func scaling(_ shape: Shape, _ contestant: Contestant) -> [Target] {
        let kinds = RequestKind.allCases.filter { !$0.writes }
        return kinds.flatMap { kind -> [Target] in
            let rates = LoadLine.clientCounts.map { rate(shape, "\(kind.rawValue)-\($0)", contestant) }
            let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
            let (one, best) = (rates[0], rates.compactMap { $0 }.max())
            return [
                Target(
                    text: "\(contestant.rawValue): \(kind.rawValue), the best number of clients against one",
                    bound: .atLeast(cores * Self.coreShare), unit: "x", value: ratio(best, one)),
                Target(
                    text: "\(contestant.rawValue): \(kind.rawValue), 64 clients against the best number",
                    bound: .atLeast(0.95), unit: "x", value: ratio(rates.last ?? nil, best)),
            ]
        }
    }

    private func againstSQLite(_ shape: Shape, _ contestant: Contestant) -> [Target] {
        options.lines.map { line in
            Target(
                text: "\(contestant.rawValue): \(line.name) against SQLite", bound: .atLeast(1), unit: "x",
                value: ratio(rate(shape, line.name, contestant), rate(shape, line.name, .sqlite)))
        }
    }

    private func mixed(_ shape: Shape, _ contestant: Contestant) -> [Target] {
        let name = "\(contestant.rawValue): mixed load, 64 clients"
        var targets = [
            Target(
                text: "\(name), requests/s", bound: .atLeast(Self.mixedRate), unit: "",
                value: rate(shape, "mixed-64", contestant)),
            Target(
                text: "\(name), p99", bound: .atMost(Self.mixedMilliseconds), unit: " ms",
                value: results.value(shape, "mixed-64", contestant, .p99)),
        ]
        targets += Mix.mixed.shares.map { share in
            Target(
                text: "\(name), p99 of \(share.kind.rawValue)", bound: .atMost(Self.mixedMilliseconds), unit: " ms",
                value: results.value(shape, "mixed-64", contestant, named: "\(share.kind.rawValue)_p99"))
        }
        return targets
    }

    private func writers(_ shape: Shape, _ contestant: Contestant) -> [Target] {
        let beside = results.value(shape, "writers-beside-64", contestant, .p99)
        let alone = results.value(shape, "writers", contestant, .p99)
        return [
            Target(
                text: "\(contestant.rawValue): writers' p99 beside 64 readers against none", bound: .atMost(2),
                unit: "x", value: ratio(beside, alone))
        ]
    }

    private func rate(_ shape: Shape, _ line: String, _ contestant: Contestant) -> Double? {
        results.value(shape, line, contestant, .rate)
    }

    private func ratio(_ ours: Double?, _ theirs: Double?) -> Double? {
        guard let ours, let theirs, theirs > 0 else { return nil }
        return ours / theirs
    }
}
