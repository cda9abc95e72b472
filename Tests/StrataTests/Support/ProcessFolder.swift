import Foundation

/// A folder for stores that nobody closes, as programs leave theirs open to the end. It goes with the process.
enum ProcessFolder {
    static let url: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-process-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: ProcessFolder.url) }
        return url
    }()
}
