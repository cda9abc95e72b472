import CoreData
import Foundation
import FoundationNetworking
import Testing

/// A store on disk that the tests write, and `strata inspect` beside it.
final class InspectFixture: @unchecked Sendable {
    // Unchecked: a test starts the server before anything else uses the fixture, and nothing changes after that.

    let directory: URL
    var store: URL { directory.appendingPathComponent("store") }
    let coordinator: NSPersistentStoreCoordinator
    private var process: Process?
    private(set) var url = ""

    init(_ model: NSManagedObjectModel) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("strata-inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("store"),
            options: nil)
    }

    deinit {
        process?.terminate()
        process?.waitUntilExit()
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: directory)
    }

    /// Saves what a closure changes.
    func save(author: String? = nil, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = author
        try context.performAndWait {
            try body(context)
            try context.save()
        }
    }

    @discardableResult
    static func insert(_ entity: String, _ values: [String: Any?], _ context: NSManagedObjectContext) -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    // MARK: The server

    /// The command lies beside the tests.
    private static var command: URL {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("strata")
    }

    /// Starts the server, and waits until it has said where it is.
    func serve() throws {
        let process = Process()
        process.executableURL = Self.command
        process.arguments = ["inspect", store.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let part = pipe.fileHandleForReading.availableData
            try #require(!part.isEmpty, "the server ended before it said where it is")
            line += part
        }
        url = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Tells the server to end.
    func stop() throws -> Int32 {
        let process = try #require(process)
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    struct Answer {
        let status: Int
        let type: String
        let text: String

        /// By bytes: characters of such texts take minutes.
        func contains(_ text: String) -> Bool { Data(self.text.utf8).range(of: Data(text.utf8)) != nil }

        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        func rows() throws -> [[String: Any]] { try #require(try json()["rows"] as? [[String: Any]]) }
    }

    private var parts: (base: String, token: String) {
        let parts = url.components(separatedBy: "/?token=")
        return (parts[0], parts.last ?? "")
    }

    /// - Parameter path: with its query, encoded as a URL is.
    func get(_ path: String, token: String? = nil) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: parts.base + path)))
        request.timeoutInterval = 60
        request.setValue("Bearer \(token ?? parts.token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return Answer(
            status: answer.statusCode, type: answer.value(forHTTPHeaderField: "Content-Type") ?? "",
            text: String(decoding: data, as: UTF8.self))
    }

    /// A parameter of a URL.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
