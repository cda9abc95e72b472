import CoreData
import Foundation
import Hummingbird
import NIOCore
import StrataService

/// The routes of an entity: a list, and the five things that are done with an object.
struct RecordRoutes<Object: Record>: Sendable {
    let store: StrataStore
    let path: String

    /// A change that meets another's is made again on what that one left.
    private static var attempts: Int { 4 }
    private static var bodyBytesMaximum: Int { 1 << 20 }

    func add(to router: Router<BasicRequestContext>) {
        let group = router.group(RouterPath(path))
        group.get { request, _ in
            let query = try ListQuery(request.uri.queryParameters)
            return try Response.json(
                try await store.withContext(.reading, purpose: "list \(path)") { context in
                    try query.page(context, Object.self)
                })
        }
        group.post { request, _ in
            let body = try await body(of: request)
            return try Response.json(try await change { try create(body, $0) }, .created)
        }
        group.get(":id") { _, context in
            let id = try context.parameters.require("id")
            return try Response.json(
                try await store.withContext(.reading, purpose: "read \(path)") { context in
                    let object: Object = try Lookup.object(id, context)
                    return object.answer
                })
        }
        group.patch(":id") { request, context in
            let id = try context.parameters.require("id")
            let body = try await body(of: request)
            return try Response.json(
                try await change { context in
                    let object: Object = try Lookup.object(id, context)
                    try object.apply(body, isNew: false)
                    try context.save()
                    return object.answer
                })
        }
        group.delete(":id") { _, context in
            let id = try context.parameters.require("id")
            try await change { context in
                let object: Object = try Lookup.object(id, context)
                try object.checkDeletion()
                context.delete(object)
            }
            return Response(status: .noContent)
        }
    }

    private func create(_ body: Object.Body, _ context: NSManagedObjectContext) throws -> Object.Answer {
        guard
            let object = NSEntityDescription.insertNewObject(forEntityName: Object.entityName, into: context) as? Object
        else { throw Problem(.internalServerError, "\(Object.entityName) has another class") }
        try object.apply(body, isNew: true)
        // Before the answer is made: only a saved object has an ID that others can use.
        try context.save()
        return object.answer
    }

    private func change<Result: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        for _ in 1..<Self.attempts {
            do {
                return try await store.withContext(.writing, purpose: "change \(path)", body)
            } catch let error as CocoaError where error.code.rawValue == NSManagedObjectMergeError {
                continue
            }
        }
        return try await store.withContext(.writing, purpose: "change \(path)", body)
    }

    private func body(of request: Request) async throws -> Object.Body {
        let bytes = try await request.body.collect(upTo: Self.bodyBytesMaximum)
        let data = Data(bytes.readableBytesView)
        guard let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw Problem(.badRequest, "the body is no JSON object")
        }
        if let unknown = Set(members.keys).subtracting(Object.fields).min() {
            throw Problem(.badRequest, "is no field", property: unknown)
        }
        do {
            return try JSONDecoder().decode(Object.Body.self, from: data)
        } catch DecodingError.typeMismatch(let type, let place) {
            throw Problem(.badRequest, "is no \(type)", property: place.codingPath.first?.stringValue)
        } catch let DecodingError.dataCorrupted(place) {
            throw Problem(.badRequest, place.debugDescription, property: place.codingPath.first?.stringValue)
        }
    }
}
