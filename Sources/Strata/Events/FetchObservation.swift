import Foundation
import StrataLog
import StrataSupport

/// A fetch or count that somebody wants to hear of: what it does is noted, and told when it is over.
///
/// Belongs to the fetch, and so to one thread at a time.
final class FetchObservation: FetchEvent {
    /// What the searches fill in.
    let report = ScanReport()
    let entity: String
    let isCount: Bool
    /// The plan, once it is there.
    var plan: FetchPlan?
    private(set) var nanoseconds: Int64 = 0
    private(set) var error: (any Error)?
    private(set) var results = 0
    private let context: NSManagedObjectContext
    /// Asked only by those who want it in words. A fetch in the background has a request that is its own.
    private let request: any AnyFetchRequest
    private let began = EventInstant.now
    private var outcome: FetchOutcome?
    private(set) lazy var stores = context.coordinator?.eventStores ?? []

    init<T>(_ context: NSManagedObjectContext, _ request: NSFetchRequest<T>, isCount: Bool = false) {
        self.context = context
        self.request = request
        self.isCount = isCount || request.stored.resultType.contains(.countResultType)
        entity = request.stored.entityName ?? request.stored.entity?.name ?? "?"
        report.isEstimating = EventHub.wants(.explanations)
    }

    /// Runs a fetch and tells of it.
    ///
    /// - Parameters:
    ///   - count: how many results what the fetch gives is.
    ///   - outcome: the results, for whoever wants to show some.
    func run<T>(_ body: () throws -> T, count: (T) -> Int, outcome: (T) -> FetchOutcome) throws -> T {
        var parts = EventParts()
        do {
            let value = try parts.gather(body)
            end(count(value), nil, with: parts, showing: outcome(value))
            return value
        } catch {
            end(0, error, with: parts)
            throw error
        }
    }

    /// - Parameters:
    ///   - error: why it failed.
    ///   - parts: what was part of it.
    ///   - outcome: asked for if somebody wants to show results.
    func end(
        _ results: Int, _ error: (any Error)?, with parts: EventParts = EventParts(),
        showing outcome: @autoclosure () -> FetchOutcome = .none
    ) {
        nanoseconds = EventInstant.now.nanoseconds(since: began)
        self.error = error
        self.results = results
        if EventHub.wants(.results) { self.outcome = outcome() }
        EventHub.tell(.fetch(self), with: parts)
    }

    var path: String? { foundBy?.rawValue }
    var index: String? { report.index }
    var reusesPlan: Bool { plan?.isReused ?? false }
    var rowsScanned: Int { report.statistics.rowsTested + report.statistics.rowsInterpreted }
    var rowsInterpreted: Int { report.statistics.rowsInterpreted }

    private var foundBy: FetchExplanation.Path? {
        if let path = report.path { return path }
        // No search has reported of it.
        if error != nil { return nil }
        if plan == nil { return .customStore }
        return context.link == nil ? .counters : .parentContext
    }

    func text(showsValues: Bool) -> String {
        RequestText(request.settings, isCount: isCount, showsValues: showsValues).text
    }

    func resultLines(_ maximum: Int) -> [String] { outcome?.lines(maximum) ?? [] }

    func explanation() -> String {
        FetchExplanation(path: foundBy ?? .counters, report, plan, results: results, duration: duration).description
    }
}

/// Some of a fetch's results, one a line, for whoever asks.
struct FetchOutcome {
    let lines: (_ maximum: Int) -> [String]

    /// Of a fetch that failed, and of a count.
    static var none: FetchOutcome { FetchOutcome([Never]()) }

    init<T>(_ results: [T]) {
        lines = { results.prefix($0).map(Self.line) }
    }

    /// An object is named by its ID: its values are not read for this.
    private static func line(_ result: Any) -> String {
        switch result {
        case let object as NSManagedObject: object.objectID.uriText
        case let id as NSManagedObjectID: id.uriText
        default: "\(result)"
        }
    }
}
