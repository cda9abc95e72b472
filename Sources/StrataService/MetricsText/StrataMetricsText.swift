import CoreMetrics
import StrataSupport

/// Metrics in Prometheus' text format, for a page `/metrics`: a factory for swift-metrics without further packages.
///
/// ```swift
/// let metrics = StrataMetricsText()
/// MetricsSystem.bootstrap(metrics)
/// // In the handler of GET /metrics:
/// Response(headers: [.contentType: StrataMetricsText.contentType], body: metrics.text())
/// ```
///
/// Names and labels get underscores for characters that the format does not have. Counters end in `_total`, timers in
/// `_seconds`; timers and aggregating recorders are histograms. Safe to use from any thread.
public final class StrataMetricsText: MetricsFactory {
    /// The type of ``text()`` in HTTP.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// In seconds: those of OpenTelemetry's conventions for databases, and four below, since a store in the process
    /// answers in microseconds.
    public static let timerBuckets = [
        0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10,
    ]
    /// Of recorders that are histograms.
    public static let recorderBuckets: [Double] = [
        1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 10_000, 100_000, 1_000_000,
    ]

    private struct State {
        /// By the name in the text.
        var families: [String: MetricFamily] = [:]
        var series = 0
        var dropped = 0
    }

    private let seriesMaximum: Int
    private let state = AdaptiveMutex(State())

    /// - Parameter seriesMaximum: with so many combinations of names and labels, further ones are counted in
    ///   `strata_metrics_text_dropped_series` and not shown: a label that takes any value would fill the memory.
    public init(seriesMaximum: Int = 20_000) { self.seriesMaximum = seriesMaximum }

    /// All metrics as they are now.
    ///
    /// - Complexity: O(n log n) in their number.
    public func text() -> String {
        let (families, dropped) = state.withLock { state in
            (state.families.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, state.dropped)
        }
        var text = ""
        for (name, family) in families { family.write(as: name, to: &text) }
        if dropped > 0 {
            let name = "strata_metrics_text_dropped_series"
            text += "# TYPE \(name) gauge\n\(name) \(dropped)\n"
        }
        return text
    }

    // MARK: Making

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make(.counter, label, dimensions) { TextCounter() }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        make(.counter, label, dimensions) { TextCounter() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        make(.gauge, label, dimensions) { TextGauge() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if !aggregate { return make(.gauge, label, dimensions) { TextGauge() } }
        return make(.histogram, label, dimensions) { TextHistogram(Self.recorderBuckets) }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        make(.timer, label, dimensions) { TextHistogram(Self.timerBuckets) }
    }

    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    /// The handler of a name and labels: always the same one.
    private func make<Handler: TextMetric>(
        _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)], _ new: () -> Handler
    ) -> Handler {
        let labels = MetricLabels(dimensions, isHistogram: kind.isHistogram)
        return state.withLock { [seriesMaximum] state in
            var name = MetricName.of(label, kind)
            // One name has one type in the text.
            while let family = state.families[name], family.kind != kind { name += "_\(kind.rawValue)" }
            if let known = state.families[name]?.series[labels] as? Handler { return known }
            let handler = new()
            // Counters of whole and of broken numbers are of one kind.
            guard state.families[name]?.series[labels] == nil, state.series < seriesMaximum else {
                state.dropped += 1
                return handler
            }
            state.series += 1
            state.families[name, default: MetricFamily(kind, label)].series[labels] = handler
            return handler
        }
    }

    private func remove(_ handler: Any) {
        let handler = handler as AnyObject
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                state.families[name]?.series[labels] = nil
                state.series -= 1
                if state.families[name]?.series.isEmpty == true { state.families[name] = nil }
                return
            }
        }
    }
}
