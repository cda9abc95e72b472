import Foundation

/// The processors that the process may use.
enum Processors {
    /// Asked for once: Foundation reads four files of the system's for it each time.
    static let count = ProcessInfo.processInfo.activeProcessorCount
}
