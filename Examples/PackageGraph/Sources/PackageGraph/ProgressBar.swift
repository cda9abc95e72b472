import Foundation

/// Shows how far a long task is: a bar that redraws itself on a terminal, a line for every tenth elsewhere.
///
/// Writes to standard error. Used from one thread.
final class ProgressBar {
    private let total: Int
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastDraw: ContinuousClock.Instant?
    private var lastTenth = 0
    private var isDrawn = false

    init(total: Int) {
        self.total = max(total, 1)
        start = clock.now
    }

    /// Shows that `count` of the total are done.
    func update(_ count: Int) {
        if isTerminal { draw(count) } else { printTenth(count) }
    }

    /// Removes the bar, so that what is printed next has the line to itself.
    func finish() {
        if isDrawn { write("\r\u{1b}[K") }
        isDrawn = false
    }

    private func draw(_ count: Int) {
        let now = clock.now
        // Twenty times a second is more than anybody can read.
        if let lastDraw, now - lastDraw < .milliseconds(50), count < total { return }
        lastDraw = now
        isDrawn = true
        let width = 30
        let filled = min(width, count * width / total)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        let percent = min(100, count * 100 / total)
        write("\r\u{1b}[K  \(bar) \(percent) %  \(Text.count(count)) objects, \(Text.rate(count, now - start))")
    }

    private func printTenth(_ count: Int) {
        let tenth = min(10, count * 10 / total)
        guard tenth > lastTenth else { return }
        lastTenth = tenth
        write("  \(tenth * 10) %: \(Text.count(count)) of \(Text.count(total)) objects\n")
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
