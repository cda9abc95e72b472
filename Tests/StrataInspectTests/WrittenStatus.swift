import Foundation

/// What a program, or somebody else, writes beside a store.
struct WrittenStatus {
    var text = "fetch Book WHERE title CONTAINS ?"
    var entity = "Book"
    var plan = "compiled scan"
    var program = "library-service"
    /// Everything that is counted.
    var count = 0
    /// Of the slow request.
    var calls = 3
    var time = Date().timeIntervalSince1970
    let began = Date().timeIntervalSince1970 - 600
    var process = ProcessInfo.processInfo.processIdentifier

    /// None in those of earlier versions.
    var retained: [String: Any]?

    func write(beside store: URL) throws {
        let names = [
            "commits", "flushes", "saves", "fetches", "counts", "batches", "failures", "faults", "rowsTested",
            "rowsReturned", "cacheHits", "cacheMisses",
        ]
        let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        let request: [String: Any] = [
            "operation": "fetch", "entity": entity, "text": text, "plan": plan, "seconds": 0.25, "rowsTested": 608,
            "rows": 600, "time": time, "calls": calls, "totalSeconds": 0.5,
        ]
        var object: [String: Any] = [
            "version": 1, "process": process, "processSpace": space ?? "", "program": program, "began": began,
            "time": time, "intervalSeconds": 1,
            "counters": Dictionary(uniqueKeysWithValues: names.map { ($0, count) }), "cacheBytes": 4_096,
            "slow": [request], "slowSince": began,
        ]
        object["retained"] = retained
        let file = store.deletingLastPathComponent().appendingPathComponent(store.lastPathComponent + ".strata-status")
        try JSONSerialization.data(withJSONObject: object).write(to: file, options: .atomic)
    }
}
