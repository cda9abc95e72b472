import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A standard stream, buffered, and what it can show.
final class Terminal {
    /// Where results go. Used by the command's one thread.
    nonisolated(unsafe) static let output = Terminal(descriptor: 1)
    /// Where progress goes.
    nonisolated(unsafe) static let messages = Terminal(descriptor: 2)

    /// Whether somebody is looking: only then there are colours and progress bars.
    let isInteractive: Bool
    private let descriptor: Int32
    private let hasColours: Bool
    private var buffer: [UInt8] = []

    private static let bufferByteCount = 64 << 10

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        isInteractive = isatty(descriptor) == 1
        hasColours = isInteractive && getenv("NO_COLOR") == nil && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    func red(_ text: String) -> String { hasColours ? "\u{1B}[31m\(text)\u{1B}[0m" : text }

    func write(_ text: String) {
        buffer += text.utf8
        if buffer.count >= Self.bufferByteCount { flush() }
    }

    /// Writes what is buffered. Ends the process when that is not possible: quietly when nobody reads any more, with a
    /// message and ``ExitCodes/failure`` when results would be lost.
    func flush() {
        var start = 0
        while start < buffer.count {
            let count = buffer.withUnsafeBytes {
                #if canImport(Glibc)
                Glibc.write(descriptor, $0.baseAddress! + start, $0.count - start)
                #else
                Musl.write(descriptor, $0.baseAddress! + start, $0.count - start)
                #endif
            }
            if count < 0 {
                let error = errno
                if error == EINTR { continue }
                fail(error)
                break
            }
            start += count
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Progress and messages may get lost.
    private func fail(_ error: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        if error == EPIPE { _exit(0) }
        buffer.removeAll()
        Self.messages.write("Error: the standard output cannot be written: \(String(cString: strerror(error)))\n")
        Self.messages.flush()
        _exit(ExitCodes.failure.rawValue)
    }
}

/// A bar on the terminal for work that takes long; nothing where nobody looks.
final class ProgressBar {
    private let title: String
    private let terminal = Terminal.messages
    private let isShown: Bool
    private var shown = -1

    private static let width = 40

    /// - Parameter besideOutput: whether results are printed meanwhile: there is a bar only where they go elsewhere.
    init(_ title: String, besideOutput: Bool = false) {
        self.title = title
        isShown = terminal.isInteractive && !(besideOutput && Terminal.output.isInteractive)
    }

    func update(_ done: Int, of total: Int) {
        guard isShown, total > 0 else { return }
        let percent = min(100, max(0, Int(Double(done) / Double(total) * 100)))
        guard percent != shown else { return }
        shown = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: Self.width - filled)
        terminal.write("\r\(title) \(bar) \(percent) %")
        terminal.flush()
    }

    /// Takes the bar away.
    func finish() {
        guard shown >= 0 else { return }
        terminal.write("\r\u{1B}[K")
        terminal.flush()
    }
}
