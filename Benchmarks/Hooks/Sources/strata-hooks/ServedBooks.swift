import CoreMetrics
import Foundation
import Instrumentation
import Logging
import Strata
import StrataService

/// A store on the disk with books in it, served as a server's handlers have it: from a pool of contexts, in a task that
/// has a logger and a context of its own.
final class ServedBooks: Sendable {
    /// What of StrataService is there.
    enum Installed {
        case nothing
        /// Its status and its pool's metrics, as a service has them whose program tells of all of its stores.
        case status
        /// All that a service has.
        case all
    }

    private struct Answer: Encodable {
        var isbn, title: String
        var pages: Int
    }

    private static let bookCount = 1_000

    private let folder: URL
    private let store: StrataStore
    private let running: Task<Void, any Error>
    private let logger = Logger(label: "books")

    init(_ installed: Installed) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-hooks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let container = NSPersistentContainer(name: "Books", managedObjectModel: try Self.model())
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("books"))
        ]
        var options = StrataStore.Options()
        if installed != .all { options.telemetry = nil }
        if installed == .nothing { options.pool.metrics = NOOPMetricsHandler.instance }
        // What is done from time to time belongs to no request.
        options.metricsInterval = .seconds(86_400)
        options.statusInterval = installed == .nothing ? nil : .seconds(86_400)
        store = StrataStore(container, options)
        running = Task.detached { [store] in try await store.run() }
        try Self.waiting { [store] in
            try await store.withContext(.writing) { context in
                for number in 0..<Self.bookCount {
                    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    book.setValue(Self.isbn(number), forKey: "isbn")
                    book.setValue("title \(number)", forKey: "title")
                    book.setValue(number, forKey: "pages")
                }
            }
        }
    }

    /// Closes the store, and takes it away.
    func end() throws {
        running.cancel()
        try Self.waiting { [running] in _ = await running.result }
        try FileManager.default.removeItem(at: folder)
    }

    /// Answers so many requests for a book by its unique number, one after the other.
    func answer(_ numbers: Range<Int>) throws {
        try Self.waiting { for number in numbers { try await self.answer(number) } }
    }

    private func answer(_ number: Int) async throws {
        let isbn = Self.isbn(number % Self.bookCount)
        var logger = logger
        logger[metadataKey: "request"] = "\(number)"
        let store = store
        let text = try await withLogger(logger) { _ in
            try await InstrumentationContext.$current.withValue(.topLevel) {
                let answer = try await store.withContext(.reading) { context -> Answer? in
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                    request.predicate = NSPredicate(format: "isbn == %@", isbn)
                    request.fetchLimit = 1
                    return try context.fetch(request).first.map { book in
                        Answer(
                            isbn: isbn, title: book.value(forKey: "title") as? String ?? "",
                            pages: book.value(forKey: "pages") as? Int ?? 0)
                    }
                }
                return try JSONEncoder().encode(answer)
            }
        }
        if text.count < isbn.utf8.count { throw CocoaError(.coderInvalidValue) }
    }

    private static func isbn(_ number: Int) -> String { "isbn-\(9_780_000_000_000 + number)" }

    private static func model() throws -> NSManagedObjectModel {
        try NSManagedObjectModel {
            Entity("Book") {
                Attribute("isbn", .string)
                Attribute("title", .string)
                Attribute("pages", .integer64)
                Unique("isbn")
            }
        }
    }

    /// Runs a body in a task of its own.
    private static func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
        let (done, failure) = (DispatchSemaphore(value: 0), FailureBox())
        Task.detached {
            do { try await body() } catch { failure.error = error }
            done.signal()
        }
        done.wait()
        if let error = failure.error { throw error }
    }

    /// Unchecked: written before the semaphore is signalled, and read after.
    private final class FailureBox: @unchecked Sendable {
        var error: (any Error)?
    }
}
