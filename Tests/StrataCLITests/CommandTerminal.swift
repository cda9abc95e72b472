import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A terminal that the command writes to, and whoever looks at it.
final class CommandTerminal {
    private let leader: Int32
    private let follower: Int32

    /// TIOCSPTLCK and TIOCGPTN, which Swift does not see.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init() throws {
        let leader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(leader >= 0)
        var (lock, number): (Int32, Int32) = (0, 0)
        let isUnlocked = ioctl(leader, Self.setLock, &lock) == 0 && ioctl(leader, Self.getNumber, &number) == 0
        try #require(isUnlocked)
        let follower = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(follower >= 0)
        (self.leader, self.follower) = (leader, follower)
    }

    deinit {
        close(leader)
        close(follower)
    }

    func setWidth(_ columns: Int) throws {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(follower, UInt(TIOCSWINSZ), &size) == 0)
    }

    // MARK: Talking to the command

    private var heard = ""

    /// Starts the command with the terminal as all of its streams.
    func start(_ arguments: [String], environment: [String: String]) throws -> Process {
        let process = command(arguments, environment)
        let handle = FileHandle(fileDescriptor: follower)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        _ = fcntl(leader, F_SETFL, O_NONBLOCK)
        try process.run()
        return process
    }

    private func command(_ arguments: [String], _ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = CommandFixture.command
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { $0.key != "NO_COLOR" }.merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 }
        return process
    }

    /// Waits for a minute at most, unlike `waitUntilExit()`.
    func expectEnd(of process: Process) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while process.isRunning {
            guard Date() < deadline else {
                process.terminate()
                throw CocoaError(.fileReadUnknown)
            }
            usleep(5_000)
        }
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(leader, bytes, bytes.count) == bytes.count)
    }

    /// Waits for a text, if need be behind another one, and gives what was shown since the last time until then.
    @discardableResult
    func expect(_ text: String, after first: String = "") throws -> String {
        let deadline = Date(timeIntervalSinceNow: 60)
        while true {
            let start = first.isEmpty ? heard.startIndex : heard.range(of: first)?.upperBound
            if let start, let end = heard.range(of: text, range: start..<heard.endIndex)?.upperBound {
                defer { heard = String(heard[end...]) }
                return String(heard[..<end])
            }
            guard Date() < deadline else {
                Issue.record("'\(text)' did not come after '\(first)' in: \(heard)")
                throw CocoaError(.fileReadUnknown)
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(leader, &chunk, chunk.count)
            if count > 0 { heard += String(decoding: chunk[..<count], as: UTF8.self) } else { usleep(5_000) }
        }
    }

    /// Runs the command and gives what the terminal was sent.
    ///
    /// - Parameter output: where results go instead; nil for the terminal.
    func run(
        _ arguments: [String], environment: [String: String] = [:], output: URL? = nil
    ) throws -> (code: Int32, text: String) {
        let process = command(arguments, environment)
        let handle = FileHandle(fileDescriptor: follower)
        process.standardInput = FileHandle.nullDevice
        process.standardError = handle
        process.standardOutput = handle
        if let output {
            _ = FileManager.default.createFile(atPath: output.path, contents: nil)
            process.standardOutput = try FileHandle(forWritingTo: output)
        }
        try process.run()
        // What is shown fits the terminal's buffer, so that nobody waits.
        process.waitUntilExit()
        _ = fcntl(leader, F_SETFL, O_NONBLOCK)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(leader, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
}
