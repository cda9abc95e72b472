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
    /// - Parameter limit: how many seconds one trial may take.
    /// - Returns: the results of the trials that were begun.
    func results(limit: Double) -> [TrialResult] {
        let clock = ContinuousClock()
        var (seen, began) = (-1, clock.now)
        while process.isRunning {
            let size = (try? Data(contentsOf: folder.appendingPathComponent("report")).count) ?? 0
            if size != seen { (seen, began) = (size, clock.now) }
            if clock.now - began > .seconds(limit) {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                return finished + [.hung]
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        let lines = lines
        if process.terminationStatus == 0, process.terminationReason == .exit { return finished }
        return lines.last == "begin" ? finished + [.stopped(message)] : finished
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
