import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import StrataService

/// What is saved, as server-sent events. The `id` of an event is the token of its transaction: a browser sends the last
/// one that it has seen when it connects again, and gets what it has missed, also after the service was started anew.
enum Events {
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

    static func response(
        _ token: NSPersistentHistoryToken?, _ coordinator: NSPersistentStoreCoordinator
    ) -> Response {
        let body = ResponseBody { writer in
            // Whoever is never sent an event knows from where to go on, too.
            let place = token.map { "id: \($0.urlSafeString)\n" } ?? ""
            try await writer.write(ByteBuffer(string: "retry: 1000\n\(place)\n"))
            // It ends when the program shuts down, and a client that reads slowly slows only this loop.
            for try await transaction in coordinator.persistentHistory(after: token).cancelOnGracefulShutdown() {
                try await writer.write(ByteBuffer(string: try event(transaction)))
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
