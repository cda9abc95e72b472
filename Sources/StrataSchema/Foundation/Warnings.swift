import StrataSupport
import Synchronization

/// Warnings to the programmer, on standard error. Thread-safe.
package enum Warnings {
    /// After this many different ones no more are written: a program that always goes wrong need not be told for ever.
    private static let countMaximum = 64
    private static let written = Mutex<Set<String>>([])

    /// Writes a warning unless it has been written before. It must not name values, which may be users' data.
    package static func once(_ text: String) {
        let isNew = written.withLock { $0.count < countMaximum && $0.insert(text).inserted }
        if isNew { StandardDescriptors.writeError("warning: \(text)\n") }
    }
}
