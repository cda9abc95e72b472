import Foundation

/// The limit that a process's control groups, or its container's, set on its memory.
enum ControlGroup {
    /// - Parameters:
    ///   - process: its number, or `self`.
    ///   - root: where /proc and /sys lie.
    /// - Returns: bytes, the least of the group and those above it; nil for no limit, and where it is not known.
    static func memoryLimit(of process: String, root: String = "") -> Int? {
        guard let text = read("\(root)/proc/\(process)/cgroup") else { return nil }
        var limits: [Int] = []
        // Version 1 has a line for each controller, version 2 one with none; machines may have both.
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let (folder, file): (String, String)
            if parts[1].isEmpty {
                (folder, file) = ("\(root)/sys/fs/cgroup", "memory.max")
            } else if parts[1].split(separator: ",").contains("memory") {
                (folder, file) = ("\(root)/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                continue
            }
            // A group of another container is not to be seen from here; those above it may be.
            var names = parts[2].split(separator: "/")
            while true {
                let path = ([folder] + names.map(String.init) + [file]).joined(separator: "/")
                if let limit = read(path).flatMap({ Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }) {
                    limits.append(limit)
                }
                if names.popLast() == nil { break }
            }
        }
        // Version 1 says so where there is none.
        return limits.filter { $0 < 1 << 60 }.min()
    }

    private static func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
