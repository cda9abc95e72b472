import Foundation
import Glibc

/// Bytes written so far, as the kernel counts them.
public struct WriteCounters: Sendable {
    /// Bytes this process handed to write(2) and its kin.
    public var systemCallBytes: UInt64 = 0
    /// Bytes written to the whole block device under a path: other processes count too.
    public var deviceBytes: UInt64 = 0

    /// Reads the counters now. A counter that the machine does not offer reads as 0.
    public init(devicesOf path: String) {
        for line in lines(of: "/proc/self/io") where line.hasPrefix("wchar:") {
            systemCallBytes = number(in: line)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let major = (status.st_dev >> 8) & 0xFFF
        let minor = (status.st_dev & 0xFF) | ((status.st_dev >> 12) & 0xFFF00)
        let fields = lines(of: "/sys/dev/block/\(major):\(minor)/stat").first?.split(separator: " ") ?? []
        // The seventh field counts written sectors of 512 bytes.
        if fields.count > 6 { deviceBytes = (UInt64(fields[6]) ?? 0) * 512 }
    }
}

/// Memory of this process in bytes, as the kernel counts it.
public struct MemoryUse: Sendable {
    /// Resident memory that no file backs.
    public var anonymousBytes = 0
    /// Resident pages of mapped files, the program itself included.
    public var fileBytes = 0
    /// The most that was ever resident.
    public var peakBytes = 0

    public var residentBytes: Int { anonymousBytes + fileBytes }
    public var peakMebibytes: Double { Double(peakBytes) / 1_048_576 }

    /// Reads the figures now.
    public init() {
        for line in lines(of: "/proc/self/status") {
            if line.hasPrefix("RssAnon:") { anonymousBytes = Int(number(in: line)) * 1024 }
            if line.hasPrefix("RssFile:") { fileBytes = Int(number(in: line)) * 1024 }
            if line.hasPrefix("VmHWM:") { peakBytes = Int(number(in: line)) * 1024 }
        }
    }
}

private func lines(of path: String) -> [Substring] {
    // Files under /proc and /sys have no length to ask for: read until the end.
    guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.readToEnd() else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n")
}

private func number(in line: Substring) -> UInt64 {
    UInt64(line.filter(\.isNumber)) ?? 0
}
