import ArgumentParser
import Foundation
import StrataBrowsing

/// What in a store's surroundings may give trouble.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look for what may give trouble with a store, and say what to do about it.",
        discussion: """
            Looks at a store, or at the directory that one is to be made in: permissions, the file system and its free \
            space, limits of the process that has the store or of this one, clock, lock, and what crashes have left. \
            Changes nothing. Run it as the user that the service runs as.

            Exits with 1 if there is something to do.
            """)

    @Argument(help: "The store's directory, or the one that it is to be in.", completion: .directory)
    var directory = "."
    @OptionGroup var output: OutputOptions

    func run() throws {
        let examination = Examination(URL(fileURLWithPath: directory).resolvingSymlinksInPath())
        examination.run()
        if output.format == .table {
            print(examination.findings)
        } else {
            let writer = RecordWriter(output, columns: ["check", "state", "finding", "remedy"])
            for finding in examination.findings {
                writer.write([
                    .text(finding.check), .text(finding.state.rawValue), .text(finding.text),
                    finding.remedy.map { .text($0) } ?? .absent,
                ])
            }
            writer.finish()
        }
        Terminal.output.flush()
        if examination.findings.contains(where: { $0.state == .problem }) { throw ExitCodes.failure }
    }

    private func print(_ findings: [Finding]) {
        let terminal = Terminal.output
        let width = findings.map { $0.check.count }.max() ?? 0
        for finding in findings {
            let state = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            let check = finding.check.padding(toLength: width, withPad: " ", startingAt: 0)
            terminal.write(finding.state == .problem ? terminal.red(state) : state)
            terminal.write("  \(check)  \(Cell.visible(finding.text))\n")
            if let remedy = finding.remedy {
                terminal.write(String(repeating: " ", count: width + 11) + "→ \(Cell.visible(remedy))\n")
            }
        }
    }
}

/// What a check has found.
struct Finding {
    enum State: String {
        case ok
        /// Worth knowing; nothing has to be done.
        case note
        case problem
    }

    let check: String
    let state: State
    let text: String
    /// What to do about it.
    let remedy: String?
}
