import Foundation

/// Makes a trial that fails smaller, as long as it fails in the same way.
struct Minimiser {
    private(set) var trial: Trial
    private(set) var result: TrialResult
    private let end: ContinuousClock.Instant
    private let limit: Double

    /// - Parameters:
    ///   - seconds: how long to try; what has been reached by then stays.
    ///   - limit: how many seconds one program may take.
    init(_ trial: Trial, _ result: TrialResult, seconds: Double, limit: Double) {
        (self.trial, self.result, self.limit) = (trial, result, limit)
        end = ContinuousClock().now + .seconds(seconds)
    }

    mutating func minimise() throws {
        let count = trial.program.operations.count
        try cutTail(count)
        var before = Int.max
        while before > size, !isOver {
            before = size
            try dropOperations()
            try halve()
            try dropParts()
            try simplify()
        }
    }

    private var size: Int { (trial.kept?.count ?? 0) * 100 - trial.without.count - trial.halvings - trial.parts.count }
    private var isOver: Bool { ContinuousClock().now > end }

    /// Takes the first of some candidates that fails as the trial does.
    private mutating func take(_ candidates: [Trial]) throws -> Bool {
        var rest = candidates[...]
        while !rest.isEmpty, !isOver {
            let results = try TrialChild(Array(rest)).results(limit: limit)
            guard let last = results.last else { return false }
            if last.resembles(result) {
                trial = rest[rest.startIndex + results.count - 1]
                result = last
                return true
            }
            rest = rest.dropFirst(results.count)
        }
        return false
    }

    /// What comes after the failure does not matter.
    private mutating func cutTail(_ count: Int) throws {
        trial.kept = Array(0..<count)
        guard case .differed(let text) = result, let number = text.split(separator: " ").dropFirst().first,
            let index = Int(number.dropLast()), index < count
        else { return }
        var shorter = trial
        shorter.kept = Array(0...index)
        _ = try take([shorter])
    }

    private mutating func dropOperations() throws {
        var width = max(1, (trial.kept?.count ?? 0) / 2)
        while width >= 1, !isOver {
            var start = (trial.kept?.count ?? 0) - width
            var dropped = false
            while start > -width, !isOver {
                // Several places at once, the later ones first.
                var candidates: [Trial] = []
                var places: [Int] = []
                while candidates.count < 16, start > -width {
                    var shorter = trial
                    let range = max(start, 0)..<max(start, 0) + min(width, width + start)
                    shorter.kept?.removeSubrange(range)
                    candidates.append(shorter)
                    places.append(start)
                    start -= width
                }
                let before = trial.kept?.count ?? 0
                if try take(candidates) {
                    dropped = true
                    start = min(places[0], (trial.kept?.count ?? 0) - width)
                    if (trial.kept?.count ?? 0) == before { return }
                }
            }
            if !dropped || width > 1 { width /= 2 }
        }
    }

    private mutating func halve() throws {
        while !isOver {
            var smaller = trial
            smaller.halvings += 1
            guard trial.halvings < 16, try take([smaller]) else { return }
        }
    }

    private mutating func dropParts() throws {
        var again = true
        while again, !isOver {
            let candidates = trial.program.model.parts.map { part in
                var smaller = trial
                smaller.without.insert(part)
                return smaller
            }
            again = try take(candidates)
        }
    }

    private mutating func simplify() throws {
        while !isOver {
            guard case .ask(let question, _)? = trial.program.operations.last else { return }
            let candidates = (0..<(question.condition?.partCount ?? 0)).map { part in
                var smaller = trial
                smaller.parts.append(part)
                return smaller
            }
            guard try take(candidates) else { return }
        }
    }
}
