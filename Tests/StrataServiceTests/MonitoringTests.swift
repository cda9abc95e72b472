import CoreData
import CoreMetrics
import Foundation
import Logging
import Metrics
import ServiceLifecycle
import StrataService
import StrataShip
import StrataSupport
import StrataTestKit
import Testing

/// The files of docs/monitoring against the code: they name metrics, labels and values that a service emits, and
/// sections of documents that exist.
@Suite struct MonitoringTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let dashboardPath = "docs/monitoring/strata-dashboard.json"
    private static let alertsPath = "docs/monitoring/strata-alerts.yml"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    // MARK: What is emitted

    private static let page = Task { MetricsPage(try await emittedText()) }

    /// The page of a service that has done everything once.
    private static func emittedText() async throws -> String {
        let fixture = try ServiceFixture(loads: false)
        let (entity, container, metrics) = (fixture.entity, fixture.container, StrataMetricsText())
        container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        var options = StrataStore.Options()
        options.metricsInterval = .milliseconds(20)
        options.minimumFreeBytes = 0
        options.pool.timeLimit = ServiceFixture.patience
        options.telemetry?.metrics = metrics
        options.telemetry?.slowFetch = .zero
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        options.telemetry?.logger = logger
        // An earlier run has left a checkpoint.
        container.loadPersistentStores { _, _ in }
        try await container.performBackgroundTask { context in
            ServiceFixture.add(1, entity, context)
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        let store = StrataStore(container, options)
        let shipping = StrataShipping(
            ShippedStore(container, to: SimulatedObjectStore()), metrics: metrics,
            metricsInterval: .milliseconds(20))
        let group = ServiceGroup(services: [shipping, store], logger: logger)
        let running = Task { try await group.run() }

        try await store.withContext(.writing) { ServiceFixture.add(3, entity, $0) }
        try await store.withContext(.reading) { context in
            _ = try context.fetch(ServiceFixture.request(entity))
            _ = try context.count(for: ServiceFixture.request(entity))
        }
        let coordinator = container.persistentStoreCoordinator
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try coordinator.acknowledgeHistory(upTo: token, by: "search")
        tellWhatNeedsOthers(of: fixture.folder.appendingPathComponent("books").path, entity)
        let gauges = [
            "strata_history_consumer_lag{", "kind=\"pinned\"", "strata_ship_lag ", "strata_ship_epoch 1\n",
            "strata_disk_free{", "strata_ship_requests_total{", "strata_cache_misses_total{", "strata_checkpoint_age{",
        ]
        for _ in 0..<60_000 {
            let text = metrics.text()
            if gauges.allSatisfy({ text.contains($0) }) { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        // Gauges go with the store.
        let whileRunning = metrics.text()
        await group.triggerGracefulShutdown()
        try await running.value
        // It takes the store away.
        withExtendedLifetime(fixture) {}

        let small = StrataMetricsText(seriesMaximum: 1)
        for label in ["first", "second"] { Counter(label: label, factory: small).increment() }
        return whileRunning + metrics.text() + small.text()
    }

    /// Events that take another process, a bad disk, an older model or a large store.
    private static func tellWhatNeedsOthers(of path: String, _ entity: String) {
        let work = StoreWork(stores: [.at(path)], nanoseconds: 1_000_000)
        let failed = StoreWork(
            stores: [.at(path)], nanoseconds: 1_000_000, error: NSError(domain: NSCocoaErrorDomain, code: 134_030))
        var changes = SaveEvent.Changes()
        (changes.entity, changes.inserted) = (entity, 1)
        EventHub.tell(
            .save(
                SaveEvent(
                    stores: failed.stores, nanoseconds: failed.nanoseconds, error: failed.error, changes: changes)))
        EventHub.tell(.batch(BatchEvent(work: failed, operation: .insert, entity: entity, objects: 1)))
        EventHub.tell(
            .conflict(ConflictEvent(store: .at(path), objects: 1, uniqueValues: 0, attempt: 1, isResolved: true)))
        EventHub.tell(.fault(FaultEvent(work: work, entity: entity, rows: 1, isPrefetch: false)))
        EventHub.tell(.wait(WaitEvent(reason: .scan, stores: [.at(path)], duration: .milliseconds(1))))
        EventHub.tell(.wait(WaitEvent(reason: .commit, stores: [.at(path)], duration: .milliseconds(1))))
        EventHub.tell(.compaction(CompactionEvent(work: work, segments: 1, freedBytes: 2, writtenBytes: 1)))
        EventHub.tell(.checkpoint(work))
        EventHub.tell(.migration(work))
        EventHub.tell(.shipping(ShippingEvent(store: .at(path), kind: .gap)))
        EventHub.tell(.following(FollowEvent(store: .at(path), transactions: 1, lag: .milliseconds(1))))
        EventHub.tell(.damage(DamageEvent(store: .at(path), error: NSError(domain: NSCocoaErrorDomain, code: 259))))
    }

    // MARK: The dashboard

    private static func dashboard() throws -> [String: Any] {
        let data = try Data(contentsOf: root.appendingPathComponent(dashboardPath))
        let object = try JSONSerialization.jsonObject(with: data)
        return try #require(object as? [String: Any])
    }

    @Test func panelsAskForWhatIsEmitted() async throws {
        let page = try await Self.page.value
        let dashboard = try Self.dashboard()
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        var count = 0
        for panel in panels {
            let title = try #require(panel["title"] as? String)
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let expression = try #require(target["expr"] as? String)
                let legend = try #require(target["legendFormat"] as? String)
                let query = MonitoringQuery(expression)
                let problems = try query.problems(on: page, showing: [legend])
                #expect(problems == [], "panel \(title)")
                for selector in query.selectors {
                    #expect(
                        Set(selector.matchers.map { $0.value }).isSuperset(of: ["$job", "$instance"]),
                        "panel \(title) does not heed the dashboard's variables")
                }
                let source = try #require(target["datasource"] as? [String: Any])
                #expect(source["uid"] as? String == "${datasource}", "panel \(title)")
                count += 1
            }
        }
        #expect(count > 40)
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    }

    @Test func variablesAskForWhatIsEmitted() async throws {
        let page = try await Self.page.value
        let dashboard = try Self.dashboard()
        let templating = try #require(dashboard["templating"] as? [String: Any])
        let variables = try #require(templating["list"] as? [[String: Any]])
        #expect(variables.compactMap { $0["name"] as? String } == ["datasource", "job", "instance"])
        let pattern = #/label_values\((?<selector>.*\}), \w+\)/#
        for variable in variables.dropFirst() {
            let definition = try #require(variable["definition"] as? String)
            let match = try #require(definition.wholeMatch(of: pattern))
            let query = MonitoringQuery(String(match.output.selector))
            let problems = try query.problems(on: page, showing: [])
            #expect(query.selectors.count == 1 && problems == [], "\(definition)")
        }
    }

    // MARK: The alerts

    /// A rule, as it is written: a key a line, long values in indented lines below theirs.
    private struct Alert {
        var lines: [Substring]
        var name: String { lines.first.map(String.init) ?? "" }

        subscript(key: String) -> String? {
            guard let index = lines.firstIndex(where: { Self.content($0).hasPrefix("\(key): ") }) else { return nil }
            let first = Self.content(lines[index]).dropFirst(key.count + 2)
            let depth = Self.depth(lines[index])
            let below = lines[(index + 1)...].prefix { Self.depth($0) > depth }.map(Self.content)
            return ((first == ">-" ? [] : [first]) + below).joined(separator: " ")
        }

        private static func depth(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        private static func content(_ line: Substring) -> Substring { line.drop { $0 == " " } }
    }

    private static func alerts() throws -> [Alert] {
        try text(alertsPath).components(separatedBy: "- alert: ").dropFirst().map { text in
            Alert(lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    @Test func alertsAskForWhatIsEmittedAndSayWhatToDo() async throws {
        let page = try await Self.page.value
        let alerts = try Self.alerts()
        #expect(alerts.count > 10 && Set(alerts.map(\.name)).count == alerts.count)
        for alert in alerts {
            let expression = try #require(alert["expr"], "\(alert.name)")
            let summary = try #require(alert["summary"], "\(alert.name)")
            let description = try #require(alert["description"], "\(alert.name)")
            let query = MonitoringQuery(expression)
            let problems = try query.problems(on: page, showing: [summary, description])
            #expect(!query.selectors.isEmpty && problems == [], "\(alert.name)")
            let severity = try #require(alert["severity"], "\(alert.name)")
            #expect(["critical", "warning"].contains(severity), "\(alert.name)")
            #expect(alert["runbook"]?.hasPrefix("docs/") == true, "\(alert.name)")
        }
    }

    // MARK: Both

    @Test(arguments: [(Self.dashboardPath, 10), (Self.alertsPath, 10)])
    func whatIsReferredToIsASectionOfADocument(_ path: String, _ minimumCount: Int) throws {
        let references = try Self.text(path).matches(of: #/(?<file>docs/[\w/-]+\.md)(?:#(?<anchor>[\w-]+))?/#)
        #expect(references.count >= minimumCount)
        for match in references {
            let headings = Self.anchors(try Self.text(String(match.output.file)))
            if let anchor = match.output.anchor {
                #expect(headings.contains(String(anchor)), "\(path) refers to \(match.output.0)")
            }
        }
    }

    /// The anchors of a document's headings, as GitHub makes them.
    private static func anchors(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
            heading.drop { $0 == "#" || $0 == " " }.lowercased()
                .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                .replacingOccurrences(of: " ", with: "-")
        }
    }

    @Test func everyMetricIsInAPanelOrAnAlert() async throws {
        let page = try await Self.page.value
        let text = try Self.text(Self.dashboardPath) + Self.text(Self.alertsPath)
        let words = Set(text.matches(of: #/\w+/#).map { String($0.output) })
        let emitted = page.families.filter { $0.hasPrefix("strata_") || $0.hasPrefix("db_client_") }
        #expect(emitted.count > 25)
        for name in emitted {
            let names = ["", "_bucket", "_sum", "_count"].map { name + $0 }
            #expect(!words.isDisjoint(with: names), "\(name) is nowhere")
        }
    }

    @Test(arguments: [
        ("strata_damages > 0", ""), ("strata_damage{shop=\"x\"} > 0", ""), ("strata_damage{shop=~\"x|y\"} > 0", ""),
        ("strata_store_size{kind=\"rubbish\"}", ""), ("strata_store_size{kind=~\"live|rubbish\"}", ""),
        ("strata_fetch_slow > 0", ""), ("sum by (shop) (strata_segments)", ""),
        ("strata_segments > ignoring (shop) strata_damage", ""),
        ("sum by (kind) (strata_store_size)", "{{db_namespace}}"),
        ("strata_segments", "{{ $labels.kind | humanize }}"),
    ])
    func whatIsNotEmittedIsNoticed(_ expression: String, _ text: String) async throws {
        let page = try await Self.page.value
        let problems = try MonitoringQuery(expression).problems(on: page, showing: [text])
        #expect(!problems.isEmpty)
    }
}
