import Foundation

/// The toolchain's compiler, asked to print what it reads.
public struct SwiftFrontend: Sendable {
    /// The compiler could not be found or run.
    public struct Failure: Error, CustomStringConvertible {
        /// What went wrong.
        public let description: String
    }

    let executable: URL
    /// For instance `x86_64-unknown-linux-gnu`: without it no platform condition holds.
    let target: String

    /// - Parameter compiler: the path of `swiftc` or `swift-frontend`; nil looks through `PATH`.
    /// - Throws: ``Failure`` if there is none.
    public init(compiler: String? = nil) throws {
        let paths = compiler.map { [$0] } ?? Self.searchPath.flatMap { ["\($0)/swift-frontend", "\($0)/swiftc"] }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Failure(description: "no Swift compiler was found at \(compiler ?? "any place that PATH names")")
        }
        // The driver only passes on what follows -frontend.
        let beside = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("swift-frontend")
        executable =
            FileManager.default.isExecutableFile(atPath: beside.path) ? beside : URL(fileURLWithPath: path)
        target = Self.hostTarget
    }

    private static var searchPath: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    private static var hostTarget: String {
        #if arch(arm64)
        let architecture = "aarch64"
        #else
        let architecture = "x86_64"
        #endif
        return "\(architecture)-unknown-linux-gnu"
    }

    /// What a run of the compiler printed beside its result.
    struct Outcome {
        let status: Int32
        let messages: String
    }

    /// Runs the compiler and waits for it.
    func run(_ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = executable
        process.arguments = ["-frontend"] + arguments + ["-target", target]
        let messages = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = messages
        do {
            try process.run()
        } catch {
            throw Failure(description: "\(executable.path) could not be run: \(error)")
        }
        let text = messages.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, messages: String(decoding: text, as: UTF8.self))
    }
}
