import Foundation
import HTTPTypes
import Strata
import StrataBrowsing
import StrataLog
import StrataService

/// Why there is no page, as the browser gets it.
package struct InspectError: Error {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// What an error of the libraries means for who asked.
    init(_ error: any Error) {
        let message = CommandError(error).description
        switch error {
        case let error as InspectError: self = error
        case is CommandError, is PredicateFormatError, is StrataPageError: self.init(.badRequest, message)
        case let error as StoreError: self.init(error.code == .expired ? .gone : .internalServerError, message)
        case let error as CocoaError:
            switch error.code.rawValue {
            case NSPersistentStoreTimeoutError:
                self.init(
                    .gatewayTimeout,
                    "the request was stopped after \(Limits.seconds) seconds: ask for less, or sort by an index")
            case NSManagedObjectReferentialIntegrityError: self.init(.notFound, "there is no such object: \(message)")
            case NSPersistentHistoryTokenExpiredError: self.init(.gone, message)
            default: self.init(.badRequest, message)
            }
        default: self.init(.internalServerError, message)
        }
    }
}

/// How much one request may take.
enum Limits {
    /// For what a request asks of the store.
    static let seconds = 10
    /// For counts that only tell how much there is.
    static let countTime = Duration.seconds(1)
    static let rows = 1_000
    static let defaultRows = 100
    /// Of an answer: larger ones would stop a browser.
    static let answerBytes = 64 << 20
    /// Of a text on a page; the whole of it is behind a link.
    static let textCharacters = 4_000
    static let cellCharacters = 160
    /// Requests that read the store at a time, and that wait for their turn.
    static let concurrentReads = 4
    static let waitingReads = 64
    static let streams = 16
    /// Of those that read the store at a time.
    static let concurrentLiveReads = 2
    /// Points of the past that stay open, and that are read at a time.
    static let pastPoints = 4
    static let pastReads = 2
    /// Times whose transactions are looked for at a time.
    static let timeSearches = 4
    /// Pages of changes from which others go on.
    static let changePlaces = 8
}

/// When a request has to be done.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant

    init(_ time: Duration = .seconds(Limits.seconds)) { end = .now + time }

    var isOver: Bool { ContinuousClock.now >= end }
    /// For a request to the store; at once when nothing is left.
    var left: Duration { max(.zero, end - ContinuousClock.now) }

    func check() throws {
        if isOver { throw Self.error }
    }

    static let error = InspectError(
        .gatewayTimeout, "the request was stopped after \(Limits.seconds) seconds: ask for less")
}
