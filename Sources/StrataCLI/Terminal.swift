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
    /// Where progress goes: from the thread of ``CopyProgress``, while the one that copies says nothing.
    nonisolated(unsafe) static let messages = Terminal(descriptor: 2)

    /// Whether somebody is looking: only then there are colours and progress bars.
    let isInteractive: Bool
    /// Of the terminal that a pager shows results on, for which `shell` started this command.
    private let pagedColumnCount: Int?
    private let descriptor: Int32
    private let hasColours: Bool
    private var buffer: [UInt8] = []

    private static let bufferByteCount = 64 << 10

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        pagedColumnCount =
            descriptor == STDOUT_FILENO ? getenv("STRATA_PAGED").flatMap { Int(String(cString: $0)) } : nil
        isInteractive = isatty(descriptor) == 1 || pagedColumnCount != nil
        hasColours = isInteractive && getenv("NO_COLOR") == nil && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    func faint(_ text: String) -> String { hasColours && !text.isEmpty ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    /// How wide the terminal is; nil where there is none, or it does not say.
    var columnCount: Int? {
        guard isInteractive else { return nil }
        if let pagedColumnCount, pagedColumnCount > 0 { return pagedColumnCount }
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
    }

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
