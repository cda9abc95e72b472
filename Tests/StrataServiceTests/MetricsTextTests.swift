import CoreMetrics
import Foundation
import Metrics
import StrataService
import Testing

@Suite struct MetricsTextTests {
    private let metrics = StrataMetricsText()

    @Test func countersGaugesAndHistograms() {
        Counter(label: "hb.requests", dimensions: [("path", "/books")], factory: metrics).increment(by: 3)
        Counter(label: "hb.requests", dimensions: [("path", "/books")], factory: metrics).increment()
        FloatingPointCounter(label: "energy", factory: metrics).increment(by: 0.5)
        Gauge(label: "strata.segments", factory: metrics).record(7)
        let meter = Meter(label: "temperature", factory: metrics)
        meter.set(20.5)
        meter.increment(by: 1)
        Recorder(label: "rows", factory: metrics).record(3)
        let timer = Metrics.Timer(label: "db.client.operation.duration", factory: metrics)
        timer.record(duration: .microseconds(60))
        timer.record(duration: .milliseconds(3))
        timer.record(duration: .seconds(60))
        let lines = metrics.text().split(separator: "\n").map(String.init)
        #expect(lines.contains("# TYPE hb_requests_total counter"))
        #expect(lines.contains("hb_requests_total{path=\"/books\"} 4"))
        #expect(lines.contains("energy_total 0.5"))
        #expect(lines.contains("strata_segments 7"))
        #expect(lines.contains("temperature 21.5"))
        #expect(lines.contains("# TYPE rows histogram"))
        #expect(lines.contains("rows_bucket{le=\"5\"} 1"))
        #expect(lines.contains("rows_bucket{le=\"2\"} 0"))
        let name = "db_client_operation_duration_seconds"
        #expect(lines.contains("# HELP \(name) db.client.operation.duration"))
        #expect(lines.contains("\(name)_bucket{le=\"5e-05\"} 0"))
        #expect(lines.contains("\(name)_bucket{le=\"0.0001\"} 1"))
        #expect(lines.contains("\(name)_bucket{le=\"0.005\"} 2"))
        #expect(lines.contains("\(name)_bucket{le=\"+Inf\"} 3"))
        #expect(lines.contains("\(name)_count 3"))
        #expect(lines.contains { $0.hasPrefix("\(name)_sum 60.003") })
    }

    @Test func whatTheFormatDoesNotHaveIsReplaced() {
        Counter(label: "9 lives-ü", dimensions: [("a.b", "x"), ("a_b", "y"), ("__c", "z")], factory: metrics)
            .increment()
        Counter(label: "escaped", dimensions: [("v", "a\"b\\c\nd")], factory: metrics).increment()
        Recorder(label: "h", dimensions: [("le", "mine")], factory: metrics).record(1)
        // One name, two types.
        Gauge(label: "x_total", factory: metrics).record(1)
        Counter(label: "x", factory: metrics).increment()
        let text = metrics.text()
        #expect(text.contains("_9_lives___total{"))
        #expect(text.contains("a_b=\"x\"") && text.contains("a_b_=\"y\"") && text.contains("label__c=\"z\""))
        #expect(text.contains(#"escaped_total{v="a\"b\\c\nd"} 1"#))
        #expect(text.contains("h_bucket{le_=\"mine\",le=\"1\"} 1"))
        #expect(text.contains("# TYPE x_total gauge\n") && text.contains("# TYPE x_total_counter counter\n"))
    }

    @Test func destroyedSeriesGoAndTooManyAreCounted() {
        let small = StrataMetricsText(seriesMaximum: 2)
        let first = Counter(label: "first", factory: small)
        for number in 0..<5 {
            Counter(label: "many", dimensions: [("id", "\(number)")], factory: small).increment()
        }
        #expect(small.text().contains("strata_metrics_text_dropped_series 4"))
        first.destroy()
        #expect(!small.text().contains("first_total"))
        Counter(label: "second", factory: small).increment()
        #expect(small.text().contains("second_total 1"))
    }

    @Test func manyThreadsLoseNoStep() async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<32 {
                group.addTask { [metrics] in
                    for _ in 0..<1_000 {
                        Counter(label: "steps", factory: metrics).increment()
                        Meter(label: "level", factory: metrics).increment(by: 3)
                        Meter(label: "level", factory: metrics).decrement(by: 1)
                        Recorder(label: "sizes", dimensions: [("task", "\(task % 4)")], factory: metrics).record(task)
                    }
                }
            }
            for _ in 0..<50 { _ = metrics.text() }
        }
        #expect(metrics.text().contains("steps_total 32000\n"))
        #expect(metrics.text().contains("level 64000\n"))
        #expect(metrics.text().contains("sizes_count{task=\"0\"} 8000\n"))
    }

    /// Prometheus' own parser for Python, where `make test-kit` could install it.
    @Test(
        .enabled("prometheus_client is not installed for python3 (pip install prometheus_client)") {
            PythonScript.output("import prometheus_client.parser") != nil
        })
    func prometheusReadsIt() throws {
        Counter(label: "plain", factory: metrics).increment(by: 5)
        for (index, value) in ["a\"b", "c\\d", "e\nf", "{g=\"h\"}", "ü,=", ""].enumerated() {
            Counter(label: "strange", dimensions: [("value", value), ("index", "\(index)")], factory: metrics)
                .increment(by: index + 1)
        }
        Gauge(label: "negative", factory: metrics).record(-1.5)
        Gauge(label: "infinite", factory: metrics).record(Double.infinity)
        Gauge(label: "broken", factory: metrics).record(Double.nan)
        let timer = Metrics.Timer(label: "t", dimensions: [("le", "x")], factory: metrics)
        for number in 1...100 { timer.record(duration: .microseconds(number * 50)) }
        let script = """
            import sys, json
            from prometheus_client.parser import text_string_to_metric_families
            for f in text_string_to_metric_families(sys.stdin.read()):
                for s in f.samples:
                    print(json.dumps([f.type, s.name, sorted(s.labels.items()), str(float(s.value))]))
            """
        let output = try #require(PythonScript.output(script, input: metrics.text()))
        let samples = output.split(separator: "\n").map(String.init)
        #expect(samples.contains(#"["counter", "plain_total", [], "5.0"]"#), "\(output)")
        #expect(samples.contains(#"["counter", "strange_total", [["index", "0"], ["value", "a\"b"]], "1.0"]"#))
        #expect(samples.contains(#"["counter", "strange_total", [["index", "1"], ["value", "c\\d"]], "2.0"]"#))
        #expect(samples.contains(#"["counter", "strange_total", [["index", "2"], ["value", "e\nf"]], "3.0"]"#))
        #expect(samples.contains(#"["counter", "strange_total", [["index", "3"], ["value", "{g=\"h\"}"]], "4.0"]"#))
        #expect(samples.contains(#"["gauge", "negative", [], "-1.5"]"#))
        #expect(samples.contains(#"["gauge", "infinite", [], "inf"]"#))
        #expect(samples.contains(#"["gauge", "broken", [], "nan"]"#))
        #expect(samples.contains(#"["histogram", "t_seconds_count", [["le_", "x"]], "100.0"]"#))
        #expect(samples.contains(#"["histogram", "t_seconds_bucket", [["le", "0.001"], ["le_", "x"]], "20.0"]"#))
    }
}
