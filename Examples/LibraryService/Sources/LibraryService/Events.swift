import AsyncAlgorithms
import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import StrataService
import Synchronization

/// What is saved, as server-sent events. The `id` of an event is the token of its transaction: a browser sends the last
/// one that it has seen when it connects again, and gets what it has missed, also after the service was started anew.
struct Events: Sendable {
    /// So many clients may listen at a time: each has a connection, and a task that waits.
    private let maximum: Int
    /// Something is sent at least as often: what lies in between may end connections that seem unused, and a client
    /// that is gone without a word is noticed.
    private let heartbeat: Duration
    private let streams = Streams()

    private final class Streams: Sendable {
        let count = Atomic(0)
    }

    /// One of the streams, until it goes.
    private final class Place: Sendable {
        private let streams: Streams

        init?(_ streams: Streams, _ maximum: Int) {
            self.streams = streams
            if streams.count.add(1, ordering: .relaxed).newValue > maximum { return nil }
        }

        deinit { streams.count.subtract(1, ordering: .relaxed) }
    }

    private enum Part: Sendable {
        case transaction(NSPersistentHistoryTransaction)
        case heartbeat
    }

    init(maximum: Int, heartbeat: Duration) {
        self.maximum = maximum
        self.heartbeat = heartbeat
    }

    private struct Change: Encodable {
        var kind: String
        var entity: String
        var id: String
    }

    private static let lastEventID = HTTPField.Name("Last-Event-ID")

    /// Where a client left off; nil for one that comes for the first time.
    static func lastEvent(of request: Request) throws -> NSPersistentHistoryToken? {
        guard let text = lastEventID.flatMap({ request.headers[$0] }) else { return nil }
        guard let token = NSPersistentHistoryToken.urlSafe(text) else {
            throw Problem(.badRequest, "is no ID of an event", property: "Last-Event-ID")
        }
        return token
    }

    /// Throws for a token that has expired, while there is still a status to say so with.
    static func check(
        _ token: NSPersistentHistoryToken?, _ context: NSManagedObjectContext
    ) throws -> NSPersistentHistoryToken? {
        guard let token else { return nil }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .count
        _ = try context.execute(request)
        return token
    }

    func response(
        to request: Request, _ token: NSPersistentHistoryToken?, _ coordinator: NSPersistentStoreCoordinator
    ) throws -> Response {
        guard let place = Place(streams, maximum) else {
            throw Problem(.serviceUnavailable, "too many listen already")
        }
        let body = ResponseBody { [heartbeat] writer in
            _ = place
            // A client that leaves is noticed at once, also when there is nothing to send to it.
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                // Whoever is never sent an event knows from where to go on, too.
                let start = token.map { "id: \($0.urlSafeString)\n" } ?? ""
                try await writer.write(ByteBuffer(string: "retry: 1000\n\(start)\n"))
                let saved = coordinator.persistentHistory(after: token).map { Part.transaction($0) }
                let beats = AsyncTimerSequence(interval: heartbeat, clock: .continuous).map { _ in Part.heartbeat }
                // It ends when the program shuts down, and a client that reads slowly slows only this loop.
                for try await part in merge(saved, beats).cancelOnGracefulShutdown() {
                    switch part {
                    case .transaction(let transaction):
                        try await writer.write(ByteBuffer(string: try Self.event(transaction)))
                    case .heartbeat: try await writer.write(ByteBuffer(string: ":\n\n"))
                    }
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    private static func event(_ transaction: NSPersistentHistoryTransaction) throws -> String {
        let changes = (transaction.changes ?? []).compactMap { change in
            StrataObjectReference(change.changedObjectID).map { reference in
                let kind =
                    switch change.changeType {
                    case .insert: "insert"
                    case .update: "update"
                    case .delete: "delete"
                    @unknown default: "unknown"
                    }
                return Change(
                    kind: kind, entity: change.changedObjectID.entity.name ?? "", id: reference.description)
            }
        }
        let data = String(decoding: try JSONEncoder().encode(changes), as: UTF8.self)
        return "id: \(transaction.token.urlSafeString)\nevent: changes\ndata: \(data)\n\n"
    }
}
