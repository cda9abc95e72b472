import Foundation
import StrataLog
import StrataSupport

/// A fetch or count that somebody wants to hear of: what it does is noted, and told when it is over.
///
/// Belongs to the fetch, and so to one thread at a time.
final class FetchObservation {
    /// Filled in by the fetch.
    let report = ScanReport()
    /// The plan, once it is there.
    var plan: FetchPlan?
    private let context: NSManagedObjectContext
    private let settings: FetchSettings
    private let isCount: Bool
    private let began = ContinuousClock.now

    init(_ context: NSManagedObjectContext, _ settings: FetchSettings, isCount: Bool = false) {
        self.context = context
        self.settings = settings
        report.isEstimating = EventHub.wants(.explanations)
        self.isCount = isCount || settings.resultType.contains(.countResultType)
    }

    /// Runs a fetch and tells of it.
    ///
    /// - Parameter results: the results, for whoever asks, of what the fetch gives.
    func run<T>(_ body: () throws -> T, results: (T) -> FetchOutcome) throws -> T {
        do {
            let value = try body()
            end(results(value), nil)
            return value
        } catch {
            end(.none, error)
            throw error
        }
    }

    /// - Parameter error: why it failed.
    func end(_ results: FetchOutcome, _ error: (any Error)?) {
        let duration = ContinuousClock.now - began
        let statistics = report.statistics
        let path = report.path ?? (error == nil ? unreportedPath : nil)
        let work = StoreWork(stores: context.coordinator?.storePaths ?? [], duration: duration, error: error)
        EventHub.tell(
            .fetch(
                FetchEvent(
                    work: work, entity: settings.entityName ?? settings.entity?.name ?? "?", isCount: isCount,
                    path: path?.rawValue, index: report.index, reusesPlan: plan?.isReused ?? false,
                    rowsScanned: statistics.rowsTested + statistics.rowsInterpreted,
                    rowsInterpreted: statistics.rowsInterpreted, results: results.count,
                    text: { self.text(showsValues: $0) }, resultLines: { results.lines($0) },
                    explanation: { self.explanation(path ?? .counters, results.count, duration) })))
    }

    /// How the results were found of a fetch that no search has reported of.
    private var unreportedPath: FetchExplanation.Path {
        if plan == nil { return .customStore }
        return context.link == nil ? .counters : .parentContext
    }

    private func text(showsValues: Bool) -> String {
        RequestText(settings, isCount: isCount, showsValues: showsValues).text
    }

    private func explanation(_ path: FetchExplanation.Path, _ results: Int, _ duration: Duration) -> String {
        FetchExplanation(path: path, report, plan, results: results, duration: duration).description
    }
}

/// How many results a fetch has, and which, for whoever asks.
struct FetchOutcome {
    var count: Int
    /// Some of the results, one a line.
    var lines: (_ maximum: Int) -> [String]

    static var none: FetchOutcome { FetchOutcome(counted: 0) }

    init(count: Int, lines: @escaping (_ maximum: Int) -> [String]) {
        self.count = count
        self.lines = lines
    }

    /// The number that was counted.
    init(counted: Int) { self.init(count: counted) { _ in [] } }

    init<T>(_ results: [T]) {
        self.init(count: results.count) { results.prefix($0).map(Self.line) }
    }

    /// An object is named by its ID: its values are not read for this.
    private static func line(_ result: Any) -> String {
        switch result {
        case let object as NSManagedObject: object.objectID.uriRepresentation().absoluteString
        case let id as NSManagedObjectID: id.uriRepresentation().absoluteString
        default: "\(result)"
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// The paths of the stores, as events have them.
    final var storePaths: [String] { persistentStores.compactMap { $0.handle?.path } }
}
