import DebianIndex
import Foundation

/// The figures at the end.
struct Summary {
    let statistics: PackageIndex.Statistics
    let parseTime: Duration
    let imported: Importer.Outcome
    let storeBytes: Int
    /// The store's path if it stays.
    let keptPath: String?

    func print() {
        let raw = statistics.rawByteCount
        let share = raw > 0 ? String(format: "%.2f", Double(storeBytes) / Double(raw)) : "-"
        Swift.print("\nSummary")
        line("parse", "\(Text.bytes(raw)) in \(Text.duration(parseTime))")
        line(
            "import",
            """
            \(Text.count(imported.objectCount)) objects in \(Text.duration(imported.duration)), \
            \(Text.rate(imported.objectCount, imported.duration))
            """)
        line("on disk", "\(Text.bytes(storeBytes)), \(share) of the index as text (which also has checksums and tags)")
        line("peak memory", Self.peakMemoryBytes.map { Text.bytes($0) } ?? "not known on this system")
        if let keptPath { line("store", keptPath) }
    }

    private func line(_ name: String, _ text: String) { Swift.print("  \(Text.padded(name, to: 12)) \(text)") }

    /// The largest resident set of this process so far, from Linux's /proc.
    private static var peakMemoryBytes: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first.map { $0 * 1024 }
    }
}
