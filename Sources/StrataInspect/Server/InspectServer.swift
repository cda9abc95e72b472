import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Strata
import StrataBrowsing
import Synchronization
import UnixSignals

/// Serves the page of a store on loopback, until the program is told to end.
package struct InspectServer: Sendable {
    private let inspector: Inspector
    private let port: Int
    private let onReady: @Sendable (String) -> Void
    private let state = State()

    /// What is known when the server listens.
    private final class State: Sendable {
        let access = Mutex<AccessGuard?>(nil)
        let streams = Atomic<Int>(0)
    }

    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - onReady: called with the URL, token and all, when the server answers.
    /// - Throws: what opening the store throws.
    package init(store: URL, port: Int, onReady: @escaping @Sendable (String) -> Void) throws {
        inspector = try Inspector(store)
        self.port = port
        self.onReady = onReady
    }

    /// Serves until SIGINT or SIGTERM.
    ///
    /// - Throws: what listening throws.
    package func run() async throws {
        let logger = Logger(label: "strata-inspect") { _ in SwiftLogNoOpLogHandler() }
        let app = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in await answer(request) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                let access = AccessGuard(token: AccessGuard.makeToken(), port: port)
                state.access.withLock { $0 = access }
                onReady("http://127.0.0.1:\(port)/?token=\(access.token)")
            },
            logger: logger)
        var services = ServiceGroupConfiguration(
            services: [app], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: services).run()
    }

    // MARK: Answering

    private func answer(_ request: Request) async -> Response {
        var letIn: Query?
        do {
            let asked = try Query(request.head.path ?? "/")
            guard let access = state.access.withLock({ $0 }) else {
                throw InspectError(.serviceUnavailable, "the server is starting")
            }
            switch access.decide(request.head, asked) {
            case .refused(let status, let message):
                throw InspectError(status, message)
            case .admitted:
                var response = Self.response(.seeOther, "text/plain; charset=utf-8", [], isHead: false)
                response.headers[.location] = asked.link(asked.format).text
                response.headers[.setCookie] =
                    "\(access.cookieName)=\(access.token); Path=/; HttpOnly; SameSite=Strict"
                return response
            case .allowed: letIn = asked
            }
            return try await answer(asked, isHead: request.method == .head)
        } catch {
            let error = InspectError(error)
            // Who was not let in is told nothing of the store, not even its name.
            guard let letIn, letIn.format == .html else {
                return Self.response(
                    error.status, "text/plain; charset=utf-8", Array((error.message + "\n").utf8),
                    isHead: request.method == .head)
            }
            let page = PageFrame.failure(error, letIn, store: inspector.url.lastPathComponent)
            return Self.response(
                error.status, "text/html; charset=utf-8", Array(page.text.utf8), isHead: request.method == .head)
        }
    }

    private func answer(_ query: Query, isHead: Bool) async throws -> Response {
        if query.format == .events { return try stream(query, isHead: isHead) }
        if let asset = Assets.find(query.path) {
            return Self.response(.ok, asset.contentType, Array(asset.text.utf8), isHead: isHead)
        }
        if query.path == "/value" {
            let session = try await inspector.session(at: try query.point("at"), Deadline())
            let value = try await inspector.run { [inspector] in
                try ValueAnswer(inspector: inspector, query: query, session: session).value()
            }
            var response = Self.response(.ok, value.contentType, Array(value.bytes), isHead: isHead)
            if value.isAttachment { response.headers[.contentDisposition] = "attachment; filename=\"value\"" }
            // Whatever a browser takes it for, it runs nothing and loads nothing.
            response.headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
            return response
        }
        let content = try await content(query)
        switch query.format {
        case .html, .events:
            let page = PageFrame.page(content, query, store: inspector.url.lastPathComponent)
            guard page.text.utf8.count <= Limits.answerBytes else { throw PageContent.tooLarge }
            return Self.response(.ok, "text/html; charset=utf-8", Array(page.text.utf8), isHead: isHead)
        case .json: return Self.response(.ok, "application/json", Array(try content.json().utf8), isHead: isHead)
        case .csv:
            return Self.response(.ok, "text/csv; charset=utf-8", Array(try content.csv().utf8), isHead: isHead)
        }
    }

    private func content(_ query: Query) async throws -> PageContent {
        let deadline = Deadline()
        let inspector = inspector
        /// A page that is there for each point of the past. What takes long is waited for before it has its turn.
        func page(_ content: @escaping @Sendable (Session) throws -> PageContent) async throws -> PageContent {
            let session = try await inspector.session(at: try query.point("at"), deadline)
            return try await inspector.run { try content(session) }
        }
        switch query.path {
        case "/":
            return try await page {
                try EntitiesPage(inspector: inspector, query: query, session: $0, deadline: deadline).content()
            }
        case "/objects":
            return try await page {
                try ObjectsPage(inspector: inspector, query: query, session: $0, deadline: deadline).content()
            }
        case "/object":
            return try await page { try ObjectPage(inspector: inspector, query: query, session: $0).content() }
        case "/query":
            return try await page {
                try QueryPage(inspector: inspector, query: query, session: $0, deadline: deadline).content()
            }
        case "/model": return try await page { ModelPage(query: query, session: $0).content() }
        case "/history":
            return try await inspector.run {
                try HistoryPage(inspector: inspector, query: query, deadline: deadline).content()
            }
        case "/changes":
            let changes = try await inspector.changes(from: query.point("from"), to: query.point("to"), deadline)
            return try await inspector.run {
                try ChangesPage(inspector: inspector, query: query, changes: changes, deadline: deadline).content()
            }
        case "/log":
            let map = try await inspector.segmentMap(deadline)
            return try await inspector.run { LogPage(inspector: inspector, map: map).content() }
        case "/activity": return try await inspector.run { ActivityPage(inspector: inspector, query: query).content() }
        default: throw InspectError(.notFound, "there is no page \(CellMarkup.cut(query.path, 200))")
        }
    }

    private static func response(
        _ status: HTTPResponse.Status, _ contentType: String, _ bytes: [UInt8], isHead: Bool
    ) -> Response {
        var headers = AccessGuard.headers
        headers[.contentType] = contentType
        return Response(
            status: status, headers: headers,
            body: isHead ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    // MARK: Streams

    /// Server-sent events: transactions as they are saved, what the log has become, or what the program does.
    private func stream(_ query: Query, isHead: Bool) throws -> Response {
        var headers = AccessGuard.headers
        headers[.contentType] = "text/event-stream"
        if isHead { return Response(status: .ok, headers: headers) }
        let events: any LiveEvents =
            switch query.path {
            case "/history": try LiveHistory(inspector, query)
            case "/log": LiveLog(inspector)
            case "/activity": LiveActivity(inspector)
            default: throw InspectError(.notFound, "there are no events of \(CellMarkup.cut(query.path, 200))")
            }
        let state = state
        guard state.streams.add(1, ordering: .relaxed).newValue <= Limits.streams else {
            state.streams.subtract(1, ordering: .relaxed)
            throw InspectError(.serviceUnavailable, "so many pages are live already: close some")
        }
        // Given back with the body, also when nobody ever reads it.
        let place = StreamPlace { state.streams.subtract(1, ordering: .relaxed) }
        let inspector = inspector
        let body = ResponseBody { writer in
            defer { withExtendedLifetime(place) {} }
            try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                // A line that says nothing, so that a browser that has gone is noticed.
                let news = try await inspector.runLive { try events.next() }
                try await writer.write(ByteBuffer(string: news.isEmpty ? ":\n\n" : news))
                try await Task.sleep(for: events.pause)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// Gives something back when it goes.
private final class StreamPlace: Sendable {
    private let giveBack: @Sendable () -> Void

    init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}
