import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import StrataService

/// An error as a client gets it: a status, what is wrong, and with which property.
struct Problem: Error {
    let status: HTTPResponse.Status
    let message: String
    let property: String?

    init(_ status: HTTPResponse.Status, _ message: String, property: String? = nil) {
        self.status = status
        self.message = message
        self.property = property
    }

    /// What an error of the store, the pool or the router means for a client. Nil for one that is the service's own.
    init?(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as StrataPageError:
            let isClients = [.foreignCursor, .damagedCursor, .invalidLimit].contains(error.code)
            self.init(isClients ? .badRequest : .internalServerError, error.message, property: "cursor")
        case let error as StrataPoolError:
            // The description names who holds the contexts: for the log.
            self.init(.serviceUnavailable, error.code == .closed ? "the service shuts down" : "the service is busy")
        // Who leaves in the middle of a request, or sends something else.
        case is HTTPParserError: self.init(.badRequest, "is no whole request")
        case let error as HTTPError: self.init(error.status, error.body ?? error.status.reasonPhrase)
        case let error as CocoaError: self.init(cocoa: error)
        default: return nil
        }
    }

    private init?(cocoa error: CocoaError) {
        let userInfo = (error as NSError).userInfo
        switch error.code.rawValue {
        case NSValidationMultipleErrorsError:
            guard let first = (userInfo[NSDetailedErrorsKey] as? [any Error])?.first, let problem = Problem(first)
            else {
                return nil
            }
            self = problem
        case NSValidationRelationshipDeniedDeleteError:
            self.init(.conflict, "others refer to it", property: userInfo[NSValidationKeyErrorKey] as? String)
        case 1_550..<1_700:
            self.init(.badRequest, error.localizedDescription, property: userInfo[NSValidationKeyErrorKey] as? String)
        case NSManagedObjectConstraintMergeError:
            let conflicts = userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            let names = conflicts?.first?.constraint.joined(separator: ", ")
            self.init(.conflict, "another object has this value", property: names)
        case NSManagedObjectMergeError:
            self.init(.conflict, "somebody else has changed it meanwhile")
        case NSPersistentHistoryTokenExpiredError:
            self.init(HTTPResponse.Status(code: 410), "the changes since then are no longer known")
        default: return nil
        }
    }

    private struct Answer: Encodable {
        var status: Int
        var message: String
        var property: String?
    }

    var response: Response {
        (try? Response.json(Answer(status: status.code, message: message, property: property), status))
            ?? Response(status: status)
    }
}

/// Answers errors with their ``Problem``.
struct ProblemMiddleware: RouterMiddleware {
    private static func name(of error: any Error) -> String {
        guard let error = error as? CocoaError else { return String(reflecting: type(of: error)) }
        return "\((error as NSError).domain) \(error.code.rawValue)"
    }

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as CancellationError {
            throw error
        } catch {
            let problem = Problem(error)
            if problem == nil || problem?.status == .serviceUnavailable {
                // What other errors say may have users' values in it.
                let what = error is StrataPoolError ? "\(error)" : Self.name(of: error)
                context.logger.error("a request failed", metadata: ["error": "\(what)"])
            }
            return (problem ?? Problem(.internalServerError, "the service failed")).response
        }
    }
}

extension Response {
    static func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }
}
