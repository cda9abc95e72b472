import Foundation

/// A job in a process of its own: the same program, started with `--job` and the job's arguments.
public enum ChildJob {
    /// Runs a job to its end.
    ///
    /// - Parameter expectsKill: whether the job ends itself by SIGKILL.
    /// - Returns: the lines that it printed.
    /// - Throws: ``BenchFailure`` when it ended otherwise.
    public static func run(_ arguments: [String], expectsKill: Bool = false) throws -> [Substring] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--job"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let isKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        guard expectsKill ? isKilled : process.terminationReason == .exit && process.terminationStatus == 0 else {
            throw BenchFailure("\(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
    }

    /// Tells people what goes on, on standard error.
    public static func announce(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
