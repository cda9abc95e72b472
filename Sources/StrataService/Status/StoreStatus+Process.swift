import Foundation

// The process that writes a status, as others find it.
extension StoreStatus {
    /// What tells this process's space of process numbers from those of other containers; nil without /proc.
    package static let ownProcessSpace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")

    /// Whether this space has a process of a number.
    package static func isRunning(_ process: Int32) -> Bool {
        FileManager.default.fileExists(atPath: "/proc/\(process)")
    }
}
