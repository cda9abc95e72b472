import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Asks a store one question after the other.
struct Shell: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a store one question after the other.",
        discussion: """
            A line is a verb without the store, such as: history --last 3. An entity with a predicate is a query, and \
            needs no quotation marks: Employee age > 30 AND name BEGINSWITH 'A' --sort age. explain before it says how \
            the results are found. Tab completes verbs, entities, keys and operators; the arrows go through earlier \
            lines, which are kept in the file that STRATA_HISTORY names, or ~/.local/state/strata/history. What does \
            not fit the screen goes through PAGER. quit or Control-D ends.

            Without a terminal, lines are read from the standard input, and the exit code is 1 if one of them failed.
            """)

    @OptionGroup var argument: StoreArgument

    func run() throws {
        let completion = try reporting { ShellCompletion(try NSManagedObjectModel(storedAt: argument.url)) }
        // The commands that are run have what Control-C does by default.
        signal(SIGINT) { _ in }
        guard isatty(STDIN_FILENO) == 1, Terminal.output.isInteractive else { return try runLines(completion) }
        let history = ShellHistory()
        let editor = LineEditor(prompt: "strata> ")
        editor.history = history.lines
        editor.complete = completion.candidates
        while true {
            switch editor.nextLine() {
            case .end: return
            case .interrupted: continue
            case .line(let text):
                guard !text.allSatisfy(\.isWhitespace) else { continue }
                editor.history.append(text)
                history.append(text)
                if ["quit", "exit"].contains(text.trimmingCharacters(in: .whitespaces)) { return }
                _ = run(text, completion, isPaged: true)
            }
        }
    }

    private func runLines(_ completion: ShellCompletion) throws {
        var hasFailed = false
        while let text = readLine() {
            if ["quit", "exit"].contains(text.trimmingCharacters(in: .whitespaces)) { break }
            if run(text, completion, isPaged: false) != 0 { hasFailed = true }
        }
        if hasFailed { throw ExitCodes.failure }
    }

    /// Runs a line as a command of its own, which sees what was saved until then and can be interrupted.
    ///
    /// - Returns: how it ended.
    private func run(_ text: String, _ completion: ShellCompletion, isPaged: Bool) -> Int32 {
        let line = ShellLine(text)
        if line.isOpen { return complain("a quotation mark is not closed") }
        guard var arguments = line.arguments(store: argument.url.path, entities: completion.entities) else { return 0 }
        if arguments[0] == "help" { arguments = arguments.filter { $0 != argument.url.path } }
        guard ShellCompletion.verbs.contains(arguments[0]) else {
            return complain("there is no verb or entity \(arguments[0]); help lists the verbs")
        }
        return start(arguments, pager: isPaged ? Self.pager : nil)
    }

    private func complain(_ message: String) -> Int32 {
        Terminal.messages.write("strata: \(Cell.visible(message))\n")
        Terminal.messages.flush()
        return 1
    }

    /// What shows long results: `PAGER`, or less where it is.
    private static var pager: String? {
        if let pager = ProcessInfo.processInfo.environment["PAGER"] { return pager.isEmpty ? nil : pager }
        return ["/usr/bin/less", "/bin/less"].first { access($0, X_OK) == 0 }
    }

    /// Not by Foundation's `Process`, which makes a process group of its own that may not read the terminal.
    private func start(_ arguments: [String], pager: String?) -> Int32 {
        var words = ["/bin/sh", "-c", "exec \"$0\" \"$@\"", "/proc/self/exe"] + arguments
        // The shell that starts it would be meant by that name.
        words[3] = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? words[3]
        var environment = ProcessInfo.processInfo.environment
        if let pager {
            words[2] = "\"$0\" \"$@\" | \(pager)"
            environment["STRATA_PAGED"] = "\(Terminal.output.columnCount ?? 80)"
            // As Git has it: no paging of what fits the screen, colours, and the screen stays.
            if environment["LESS"] == nil { environment["LESS"] = "FRX" }
        }
        let argv = words.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var process = 0 as pid_t
        guard posix_spawn(&process, "/bin/sh", nil, nil, argv, envp) == 0 else {
            return complain("/bin/sh cannot be started")
        }
        var status = 0 as Int32
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 1
    }
}

/// The lines of earlier sessions, in a file that only the user may read.
private final class ShellHistory {
    private(set) var lines: [String] = []
    /// Nil for what is no file of such lines: it stays as it is.
    private let path: FilePath?
    private static let maximum = 1_000
    private static let maximumByteCount = Int64(1 << 20)

    init() {
        guard let path = Self.path else {
            self.path = nil
            return
        }
        do {
            let file = try PosixFileSystem().open(path, .read)
            defer { try? file.close() }
            let count = try file.byteCount()
            guard count <= Self.maximumByteCount else { throw Errno.fileTooLarge }
            var bytes = [UInt8](repeating: 0, count: Int(count))
            guard try bytes.withUnsafeMutableBytes({ try file.readAll(into: $0, at: 0) }),
                let text = String(validating: bytes, as: UTF8.self)
            else { throw Errno.invalidArgument }
            lines = text.split(separator: "\n").suffix(Self.maximum).map(String.init)
            self.path = path
        } catch Errno.noSuchFileOrDirectory {
            self.path = path
        } catch {
            self.path = nil
        }
    }

    private static var path: FilePath? {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["STRATA_HISTORY"] {
            return path.isEmpty ? nil : FilePath(URL(fileURLWithPath: path).path)
        }
        let state =
            environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true) }
            ?? URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true).appendingPathComponent(".local/state")
        return FilePath(state.appendingPathComponent("strata/history").path)
    }

    /// What cannot be kept is not worth a message: another shell may be writing its own lines just now.
    func append(_ line: String) {
        guard let path, line != lines.last else { return }
        lines = (lines + [line]).suffix(Self.maximum)
        try? FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        guard let file = try? UnfinishedFile(for: path) else { return }
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        guard (try? text.withUnsafeBytes { try file.append($0) }) != nil else { return }
        try? file.install(replacing: true)
    }
}
