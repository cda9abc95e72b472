import Foundation
import Synchronization

/// The program, run on a free port with a store of its own. It is looked for beside the program that runs it.
package final class RunningLibrary: Sendable {
    private struct State {
        var process: Process?
        var port: UInt16 = 0
    }

    package struct NotRunning: Error {}

    package let folder: URL
    private let environment: [String: String]
    private let state = Mutex(State())

    /// - Parameter environment: variables beside those of the store and the port.
    package init(_ environment: [String: String] = [:]) throws {
        self.environment = environment
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        if let process = state.withLock({ $0.process }), process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Changes with every start; 0 while the program does not run.
    package var port: UInt16 { state.withLock { $0.port } }

    /// How many files and connections the program has open.
    package var descriptorCount: Int {
        let number = state.withLock { $0.process?.processIdentifier } ?? 0
        return (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd").count) ?? 0
    }

    /// Returns when the program listens.
    package func start() throws {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("LibraryService")
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.merging([
            "LIBRARY_STORE": folder.appendingPathComponent("store").path, "LIBRARY_PORT": "0",
        ]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw NotRunning() }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let port = text.split(separator: " ").last.flatMap({ UInt16($0.dropLast()) }) else { throw NotRunning() }
        state.withLock { $0 = State(process: process, port: port) }
    }

    /// Kills the program in the middle of whatever it does.
    package func kill() { end(SIGKILL) }

    /// Asks the program to end in order.
    ///
    /// - Returns: its exit status, or minus the signal that ended it.
    @discardableResult
    package func terminate() -> Int32 { end(SIGTERM) }

    @discardableResult
    private func end(_ signal: Int32) -> Int32 {
        let process = state.withLock { state in
            state.port = 0
            return state.process
        }
        guard let process else { return 0 }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    private func kill(_ process: Int32, _ signal: Int32) {
        #if canImport(Glibc)
        Glibc.kill(process, signal)
        #else
        Darwin.kill(process, signal)
        #endif
    }
}
