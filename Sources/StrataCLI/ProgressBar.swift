import Foundation
import StrataBrowsing

/// How far work is that takes over a second: a bar with rate and time left on a terminal, and else a line now and then.
///
/// Unchecked: used by one thread at a time, but closures that have it may have to be sendable.
final class ProgressBar: @unchecked Sendable {
    /// What is counted.
    enum Unit {
        case bytes
        case objects
        case transactions
        case blocks
        /// Thousandths of work that takes as long as it was told to.
        case time

        func text(_ count: Int) -> String {
            switch self {
            case .bytes: ByteSize.text(count)
            case .objects: "\(count) objects"
            case .transactions: "\(count) transactions"
            case .blocks: "\(count) blocks"
            case .time: "\(count / 1_000)"
            }
        }
    }

    private let title: String
    private let unit: Unit
    private let terminal = Terminal.messages
    private let isShown: Bool
    private let start = ContinuousClock.now
    private var shown: ContinuousClock.Instant?
    private var counted = 0

    private static let width = 30

    /// For how long work is not worth a word: a second, or what `STRATA_PROGRESS_SECONDS` says.
    private static let patience: Duration = {
        let text = ProcessInfo.processInfo.environment["STRATA_PROGRESS_SECONDS"] ?? ""
        guard let seconds = Double(text), (0...1e9).contains(seconds) else { return .seconds(1) }
        return .seconds(seconds)
    }()

    /// - Parameter besideOutput: whether results are printed meanwhile: there is a bar only where they go elsewhere.
    init(_ title: String, _ unit: Unit, besideOutput: Bool = false) {
        self.title = title
        self.unit = unit
        isShown = !(besideOutput && terminal.isInteractive && Terminal.output.isInteractive)
    }

    func update(_ done: Int, of total: Int) {
        guard isShown, total > 0, let elapsed = timeToShow() else { return }
        let text = Self.text(done, of: total, unit, after: elapsed)
        guard terminal.isInteractive else { return log(text) }
        let filled = min(Self.width, max(0, Int(Double(done) / Double(total) * Double(Self.width))))
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: Self.width - filled)
        draw("\(title) \(bar) \(text)")
    }

    /// Counts one more of what nobody knows the number of.
    func count() {
        counted += 1
        // Looking at the clock takes longer than reading a record.
        guard isShown, counted % 256 == 0 || Self.patience == .zero, let elapsed = timeToShow() else { return }
        let text = "\(unit.text(counted)), \(unit.text(Int(Double(counted) / (elapsed / .seconds(1)))))/s"
        if terminal.isInteractive { draw("\(title) \(text)") } else { log(text) }
    }

    /// How long the work has been going on, if it is time to say something.
    private func timeToShow() -> Duration? {
        let now = ContinuousClock.now
        if let shown {
            // Ten times a second on a terminal, and in a log every ten seconds.
            let pause = terminal.isInteractive ? min(Self.patience, .milliseconds(100)) : Self.patience * 10
            guard now - shown >= pause else { return nil }
        } else {
            guard now - start >= (terminal.isInteractive ? Self.patience : Self.patience * 10) else { return nil }
        }
        shown = now
        return now - start
    }

    private func log(_ text: String) {
        terminal.write("strata: \(title): \(text)\n")
        terminal.flush()
    }

    private func draw(_ line: String) {
        terminal.write("\r" + DisplayWidth.cut(line, to: (terminal.columnCount ?? 80) - 1) + "\u{1B}[K")
        terminal.flush()
    }

    /// Takes the bar away.
    func finish() {
        guard shown != nil, terminal.isInteractive else { return }
        shown = nil
        terminal.write("\r\u{1B}[K")
        terminal.flush()
    }

    private static func text(_ done: Int, of total: Int, _ unit: Unit, after elapsed: Duration) -> String {
        let percent = min(100, max(0, Int(Double(done) / Double(total) * 100)))
        let seconds = elapsed / .seconds(1)
        guard done > 0, seconds > 0 else { return "\(percent) %" }
        let rate = Double(done) / seconds
        let left = Double(max(0, total - done)) / rate
        if case .time = unit { return "\(percent) %, \(duration(left)) left" }
        return "\(percent) %, \(unit.text(Int(rate)))/s, \(duration(left)) left"
    }

    /// Hours, minutes and seconds, as many as say something.
    private static func duration(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "over 100 h" }
        let whole = Int(seconds.rounded(.up))
        if whole < 60 { return "\(whole) s" }
        if whole < 3_600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
    }
}
