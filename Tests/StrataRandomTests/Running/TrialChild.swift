import Foundation
import Synchronization

/// This program once more, running trials one after another, so that one that stops or hangs can be told apart.
final class TrialChild {
    /// The folder with the child's task, its report and what it prints.
    static let variable = "STRATA_RANDOM_TASK"

    private let folder: URL
    private let process = Process()
    private var taken = 0

    /// - Parameter trials: run until one of them fails.
    init(_ trials: [Trial]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-trials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(trials).write(to: Self.task(folder))
        for name in ["report", "output"] { try Data().write(to: folder.appendingPathComponent(name)) }
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = ["--testing-library", "swift-testing", "--filter", "StrataRandomTests.TrialChildTests"]
        var environment = ProcessInfo.processInfo.environment
        environment[Self.variable] = folder.path
        // A trace takes seconds, and the printed program has all that leads to it.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = environment
        let output = try FileHandle(forWritingTo: folder.appendingPathComponent("output"))
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Waits for the end.
    ///
    /// - Parameter limit: how many seconds of processor time one trial may take: a machine may be slow. One that waits
    ///   for what does not come has ten times as long.
    /// - Returns: the results of the trials that were begun.
    func results(limit: Double) -> [TrialResult] {
        let clock = ContinuousClock()
        var (seen, began, spent) = (-1, clock.now, 0.0)
        while process.isRunning {
            let size = (try? Data(contentsOf: folder.appendingPathComponent("report")).count) ?? 0
            let now = processorTime ?? spent
            if size != seen { (seen, began, spent) = (size, clock.now, now) }
            if now - spent > limit || clock.now - began > .seconds(10 * limit) {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                return ended(.hung)
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        if process.terminationStatus == 0, process.terminationReason == .exit { return finished }
        return ended(.stopped(message))
    }

    /// What has finished, and how the trial under way has ended; without one it was what the last one has left behind.
    private func ended(_ end: TrialResult) -> [TrialResult] {
        lines.last == "begin" ? finished + [end] : finished.dropLast() + [end]
    }

    /// Of the process, in seconds.
    private var processorTime: Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // After the name, which may have spaces: the state is the first, utime and stime are the 12th and 13th.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private var lines: [String] {
        let text = (try? String(contentsOf: folder.appendingPathComponent("report"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private var finished: [TrialResult] {
        lines.compactMap { line in
            if line.hasPrefix("passed ") { return .passed(operations: Int(line.dropFirst(7)) ?? 0) }
            return line.hasPrefix("differed ") ? .differed(String(line.dropFirst(9))) : nil
        }
    }

    /// The last words of a program that was stopped.
    private var message: String {
        let output = (try? Data(contentsOf: folder.appendingPathComponent("output"))) ?? Data()
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        let last = lines.last { $0.contains("Fatal error") || $0.contains("strata:") || $0.contains("Strata") }
        return last.map(String.init) ?? "signal \(process.terminationStatus)"
    }

    private static func task(_ folder: URL) -> URL { folder.appendingPathComponent("task") }

    // MARK: In the child

    static var folderOfTask: URL? {
        ProcessInfo.processInfo.environment[variable].map { URL(fileURLWithPath: $0) }
    }

    /// Runs the task's trials and reports each.
    static func work(in folder: URL) throws {
        let trials = try JSONDecoder().decode([Trial].self, from: Data(contentsOf: task(folder)))
        let report = try FileHandle(forWritingTo: folder.appendingPathComponent("report"))
        func say(_ text: String) throws {
            try report.write(contentsOf: Data((text.replacingOccurrences(of: "\n", with: " ") + "\n").utf8))
        }
        for trial in trials {
            try say("begin")
            let result = run(trial)
            if case .passed(let operations) = result {
                try say("passed \(operations)")
            } else {
                return try say("differed \(result)")
            }
        }
    }

    private static func run(_ trial: Trial) -> TrialResult {
        do {
            let run = try Run(trial.program, trial.place)
            try run.run()
            return .passed(operations: run.count)
        } catch { return .differed("\(error)") }
    }
}
