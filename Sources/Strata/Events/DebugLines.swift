import Foundation
import StrataSupport

/// Events in lines for people.
struct DebugLines {
    /// See ``DebugSettings/level``.
    let level: Int

    /// From this level on, a fetch comes with its whole plan.
    static let planLevel = 4
    /// From this level on, with its first results.
    static let resultsLevel = 3
    /// So many results are shown of a fetch.
    private static let resultsMaximum = 20

    func lines(of event: StrataEvent) -> [String] {
        switch event {
        case .fetch(let fetch): lines(of: fetch)
        case .save(let save): lines(of: save)
        case .batch(let batch):
            ["batch \(batch.operation.rawValue) \(batch.entity ?? "objects")"]
                + end(batch.work, "batch \(batch.operation.rawValue)", "for \(batch.objects) objects")
        case .conflict(let conflict): [text(of: conflict)]
        case .flush(let flush):
            end(flush.work, "flush", "for \(flush.records) records of \(flush.bytes) bytes")
        case .fault(let fault):
            end(
                fault.work, fault.isPrefetch ? "prefetch" : "fault",
                "for \(fault.rows) rows\(fault.entity.map { " of \($0)" } ?? "")")
        case .wait(let wait): ["annotation: waited \(seconds(wait.duration)) for a turn (\(wait.reason.rawValue))"]
        case .compaction(let compaction):
            end(
                compaction.work, "compaction",
                "for \(compaction.segments) segments, \(compaction.freedBytes) bytes freed, "
                    + "\(compaction.writtenBytes) written")
        case .checkpoint(let work): end(work, "checkpoint", "of \(work.store ?? "")")
        case .migration(let work): end(work, "migration", "of \(work.store ?? "")")
        case .opening(let work): end(work, "opening", "of \(work.store ?? "")")
        case .following(let follow):
            ["annotation: followed \(follow.transactions) transactions, \(seconds(follow.lag)) after the last one"]
        case .damage(let damage): ["error: damage of \(damage.store.path): \(damage.error)"]
        case .shipping(let shipping):
            switch shipping.kind {
            case .request(let operation, let result): ["annotation: shipping: \(operation), \(result)"]
            case .gap: ["annotation: shipping: a gap, because segments were compacted away"]
            }
        }
    }

    private func lines(of fetch: any FetchEvent) -> [String] {
        var lines = [fetch.text(showsValues: level >= 2)]
        if let path = fetch.path {
            let index = fetch.index.map { " \($0)" } ?? ""
            let interpreted = fetch.rowsInterpreted > 0 ? ", \(fetch.rowsInterpreted) interpreted" : ""
            lines.append(
                "annotation: plan: \(path)\(index), \(fetch.reusesPlan ? "reused" : "new"), "
                    + "\(fetch.rowsScanned) rows tested\(interpreted)")
        }
        if level >= Self.planLevel { lines += fetch.explanation().split(separator: "\n").map { "details: \($0)" } }
        if level >= Self.resultsLevel { lines += fetch.resultLines(Self.resultsMaximum).map { "details: \($0)" } }
        let name = fetch.isCount ? "count" : "fetch"
        return lines + end(fetch.work, "total \(name) execution", "for \(fetch.results) rows.")
    }

    private func lines(of save: SaveEvent) -> [String] {
        let changes = save.changes
        let entity = changes.entity.map { " \($0)" } ?? ""
        var line =
            "save\(entity): \(changes.inserted) inserted, \(changes.updated) updated, \(changes.deleted) deleted"
            + (save.isToParent ? ", to the parent" : "")
        if let sequence = save.sequence { line += ", transaction \(sequence)" }
        if save.retries > 0 { line += ", \(save.retries) conflicts met" }
        let waited = save.waited > .zero ? "of which \(seconds(save.waited)) waited for others" : ""
        return [line] + end(save.work, "total save execution", waited)
    }

    private func text(of conflict: ConflictEvent) -> String {
        let outcome = conflict.isResolved ? "resolved by the merge policy" : "not resolved"
        return "annotation: conflict, attempt \(conflict.attempt), \(outcome): \(conflict.summary)"
    }

    /// How long something took, or why it failed: by domain and code, since a description may have users' values.
    private func end(_ work: StoreWork, _ name: String, _ rest: String) -> [String] {
        if let error = work.error {
            return ["error: \(name) failed after \(seconds(work.duration)): \(EventErrorText.type(of: error))"]
        }
        return ["annotation: \(name) time: \(seconds(work.duration)) \(rest)"]
    }

    private func seconds(_ duration: Duration) -> String {
        String(format: "%.6fs", duration / .seconds(1))
    }
}

/// Errors in logs: what kind it is, without what a description may show of users' values.
package enum EventErrorText {
    /// Domain and code, such as `NSCocoaErrorDomain:133020`; of an error of Swift's, its type.
    package static func type(of error: any Error) -> String {
        if let code = code(of: error) { return "\((error as NSError).domain):\(code)" }
        return String(reflecting: Swift.type(of: error))
    }

    /// The number of an error that has one.
    package static func code(of error: any Error) -> Int? {
        error is CocoaError || Swift.type(of: error) is NSError.Type ? (error as NSError).code : nil
    }
}
