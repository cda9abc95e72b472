import Foundation

/// Writes result lines to standard output: peer, workload, metric, value and unit, separated by tabs.
public struct Emitter: Sendable {
    public let peer: String

    public init(peer: String) {
        self.peer = peer
    }

    /// A measured value, with six significant digits.
    public func emit(_ workload: String, _ metric: String, _ value: Double, _ unit: String) {
        line(workload, metric, String(format: "%.6g", value), unit)
    }

    /// An exact value: a size, a count or a check digest.
    public func emit(_ workload: String, _ metric: String, exactly value: UInt64, _ unit: String) {
        line(workload, metric, String(value), unit)
    }

    /// A remark for people: goes to standard error.
    public func note(_ text: String) {
        FileHandle.standardError.write(Data("\(peer): \(text)\n".utf8))
    }

    private func line(_ workload: String, _ metric: String, _ value: String, _ unit: String) {
        FileHandle.standardOutput.write(Data("\(peer)\t\(workload)\t\(metric)\t\(value)\t\(unit)\n".utf8))
    }
}
