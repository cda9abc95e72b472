import Configuration
import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import ServiceLifecycle
import StrataService
import Tracing

/// The service: configuration from the environment, a store, a server, and an end in order.
///
/// `LIBRARY_STORE` is the store's directory (`library`), `LIBRARY_HOST` (`127.0.0.1`) and `LIBRARY_PORT` (8080; 0 for a
/// free one) where it listens. `LIBRARY_TRACES` is a file for spans (none without) of a share of requests,
/// `LIBRARY_TRACES_SAMPLING` (1). `LIBRARY_EVENTS_STREAMS` clients may listen to events (1000), each of which gets
/// something every `LIBRARY_EVENTS_HEARTBEAT_SECONDS` (15). `LIBRARY_STRATA_…` are the options of `StrataStore`,
/// `LIBRARY_LOG_LEVEL` is that of the log.
@main
enum Library {
    static func main() async throws {
        let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "library")
        let metrics = StrataMetricsText()
        MetricsSystem.bootstrap(metrics)
        if let file = config.string(forKey: "traces") {
            InstrumentationSystem.bootstrap(
                try StrataTraceFile(
                    URL(fileURLWithPath: file), service: "library",
                    // Requests come from anybody.
                    sampling: config.double(forKey: "traces.sampling", default: 1), followsParents: false))
        }
        var logger = Logger(label: "library")
        logger.logLevel = config.string(forKey: "log.level").flatMap { Logger.Level(rawValue: $0) } ?? .notice
        let container = NSPersistentContainer(name: "Library", managedObjectModel: try LibraryModel.model.get())
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: URL(fileURLWithPath: config.string(forKey: "store", default: "library")))
        ]
        var options = StrataStore.Options(config: config.scoped(to: "strata"))
        options.telemetry?.logger = logger
        let store = StrataStore(container, options)
        let app = Application(
            router: router(
                store, metrics,
                Events(
                    maximum: config.int(forKey: "events.streams", default: 1_000),
                    heartbeat: .seconds(max(0.1, config.double(forKey: "events.heartbeat.seconds", default: 15))))),
            configuration: ApplicationConfiguration(
                address: .hostname(
                    config.string(forKey: "host", default: "127.0.0.1"), port: config.int(forKey: "port", default: 8080)
                ),
                serverName: "library"),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("listening on port \(port)\n".utf8))
            },
            logger: logger)
        // The store first: services end in reverse, so that the server has answered all requests when it closes.
        var services = ServiceGroupConfiguration(
            services: [store, app], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: services).run()
    }

    static func router(
        _ store: StrataStore, _ metrics: StrataMetricsText, _ events: Events
    ) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.addMiddleware {
            // What people look for stays out of the spans.
            TracingMiddleware(redactingQueryParameters: ["q", "isbn", "email", "cursor"])
            MetricsMiddleware()
            LogRequestsMiddleware(.debug)
            ProblemMiddleware()
        }
        RecordRoutes<Author>(store: store, path: "authors").add(to: router)
        RecordRoutes<Book>(store: store, path: "books").add(to: router)
        RecordRoutes<Member>(store: store, path: "members").add(to: router)
        RecordRoutes<Loan>(store: store, path: "loans").add(to: router)
        router.get("statistics") { _, _ in
            try Response.json(try await store.withContext(.reading, purpose: "statistics") { try Statistics($0) })
        }
        router.get("events") { request, _ in
            let coordinator = store.container.persistentStoreCoordinator
            let known = try Events.lastEvent(of: request)
            // Nobody hears of changes before the stores are open.
            let token = try await store.withContext(.reading, purpose: "events") { context in
                try Events.check(known, context) ?? coordinator.currentPersistentHistoryToken(fromStores: nil)
            }
            return try events.response(to: request, token, coordinator)
        }
        router.get("health") { _, _ in
            let health = store.health
            return try Response.json(
                Health(status: "\(health.status)", reasons: health.reasons.map { "\($0)" }),
                // One that refuses writes is to be started anew.
                health.canWrite ? .ok : .serviceUnavailable)
        }
        router.get("metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: StrataMetricsText.contentType],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text())))
        }
        return router
    }

    private struct Health: Encodable {
        var status: String
        var reasons: [String]
    }
}
