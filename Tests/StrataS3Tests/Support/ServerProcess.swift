import Foundation

/// A server in a process of its own, which ends with the test's process however that ends.
///
/// A small Python program starts it and waits for the end of its standard input, which is a pipe that this process
/// holds: it is closed by the kernel if nobody else does. Then the server and its folder are removed.
final class ServerProcess: Sendable {
    private static let watcher = """
        import os, shutil, signal, subprocess, sys
        folder, log = sys.argv[1:3]
        with open(log, "wb") as output:
            server = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                      cwd=folder, start_new_session=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while os.read(0, 100): pass
        try: os.killpg(server.pid, signal.SIGKILL)
        except ProcessLookupError: pass
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
        """

    let folder: String
    private let process: Process
    private let input: Pipe
    private var log: String { folder + "/server.log" }

    /// Starts a program with arguments, in a folder that is new and empty.
    ///
    /// - Parameter files: Written into the folder before.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:]
    ) throws {
        folder = NSTemporaryDirectory() + "strata-s3-server-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, content) in files { try Data(content.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        input = Pipe()
        // No other child may hold it open.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["python3", "-c", Self.watcher, folder, folder + "/server.log", program]
            + arguments.map { $0.replacing("{folder}", with: folder) }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        try process.run()
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The last lines of what the server has printed.
    var output: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(20).joined(separator: "\n")
    }

    var isRunning: Bool { process.isRunning }

    deinit { stop() }
}
