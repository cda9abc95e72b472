import Foundation
import Testing

/// The pages in headless Chromium, which `make test-inspect` installs.
@Suite(.serialized) struct BrowserTests {
    private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Browser")

    /// Chromium and Python; nil where they are not there, which is said, and fails if they are required.
    private static func programs() -> (browser: String, python: String)? {
        let environment = ProcessInfo.processInfo.environment
        func find(_ names: [String]) -> String? {
            let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
            return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }
        let browser = environment["STRATA_BROWSER"] ?? find(["chromium", "chromium-browser", "google-chrome"])
        guard let browser, let python = find(["python3"]) else {
            print("test-inspect: THE PAGE IS NOT TESTED IN A BROWSER: there is no Chromium, or no python3")
            if environment["STRATA_BROWSER_REQUIRED"] != nil {
                Issue.record("STRATA_BROWSER_REQUIRED is set, and there is no Chromium or no python3")
            }
            return nil
        }
        return (browser, python)
    }

    private static func check(_ store: String, _ fixture: InspectFixture, _ arguments: String...) async throws -> Int32?
    {
        guard let programs = programs() else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: programs.python)
        process.arguments =
            [scripts.appendingPathComponent("check.py").path, programs.browser, store, fixture.url] + arguments
        process.standardInput = FileHandle.nullDevice
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    @Test func aLibraryIsLookedAtWithTheKeyboardInBothLooks() async throws {
        let fixture = try InspectFixture(Stores.library())
        try Stores.fillLibrary(fixture)
        try fixture.serve()
        let folder =
            ProcessInfo.processInfo.environment["STRATA_SCREENSHOTS"].map { URL(fileURLWithPath: $0) }
            ?? fixture.directory.appendingPathComponent("screenshots")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let signal = fixture.directory.appendingPathComponent("signal").path
        let writing = Task {
            while !FileManager.default.fileExists(atPath: signal) { try await Task.sleep(for: .milliseconds(50)) }
            try fixture.save(author: "browser test") { InspectFixture.insert("Tag", ["label": "seen live"], $0) }
        }
        // A program that tells what it does.
        let telling = Task {
            var status = WrittenStatus()
            while !Task.isCancelled {
                status.count += Int.random(in: 500...1_500)
                status.calls += 1
                status.time = Date().timeIntervalSince1970
                try status.write(beside: fixture.store)
                try await Task.sleep(for: .seconds(1))
            }
        }
        let status = try await Self.check("library", fixture, folder.path, signal)
        writing.cancel()
        telling.cancel()
        if let status { #expect(status == 0, "the browser's checks failed; what they print says where") }
    }

    @Test func aHostileStoreStaysText() async throws {
        let fixture = try InspectFixture(Stores.hostile())
        try Stores.fillHostile(fixture)
        try fixture.serve()
        if let status = try await Self.check("hostile", fixture) {
            #expect(status == 0, "the browser's checks failed; what they print says where")
        }
    }
}
