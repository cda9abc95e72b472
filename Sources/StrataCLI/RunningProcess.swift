import Foundation
import StrataBrowsing
import StrataIO

/// A process of this machine, as /proc tells of it.
struct RunningProcess: CustomStringConvertible {
    let number: Int32
    /// The name of its program.
    let name: String

    var description: String { "process \(number) (\(name))" }

    /// The process whose number is in a store's lock file.
    ///
    /// - Returns: nil where there is no such process here: that of another container has a number of its own.
    init?(lockedBy file: any File) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }) ?? 0
        let text = String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let number = Int32(text), number > 0,
            let name = try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8)
        else { return nil }
        self.number = number
        self.name = Cell.visible(name.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Nil where it may not be read, as it belongs to another user.
    var environment: [String: String]? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(number)/environ") else { return nil }
        var result: [String: String] = [:]
        for entry in data.split(separator: 0) {
            let parts = String(decoding: entry, as: UTF8.self).split(separator: "=", maxSplits: 1)
            if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
        }
        return result
    }

    /// Limits of a process; nil for none.
    struct Limits {
        var descriptors: Int?
        var fileBytes: Int?
    }

    static var ownLimits: Limits { limits(of: "self") ?? Limits() }

    /// Nil where they may not be read.
    var limits: Limits? { Self.limits(of: "\(number)") }

    private static func limits(of process: String) -> Limits? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8) else { return nil }
        func limit(_ title: String) -> Int? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(title) }
            return line?.dropFirst(title.count).split(separator: " ").first.flatMap { Int($0) }
        }
        return Limits(descriptors: limit("Max open files"), fileBytes: limit("Max file size"))
    }
}
