import Foundation

/// The settings of a profile in the files that AWS's tools share.
struct AWSFiles {
    let profile: String
    /// Whether somebody asked for this profile, so that it has to be there.
    let isNamed: Bool
    private let credentialsFile: String
    private let configurationFile: String

    init(profile: String?, environment: [String: String]) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let named = profile ?? variable("AWS_PROFILE")
        isNamed = named != nil
        self.profile = named ?? "default"
        let home = variable("HOME") ?? NSHomeDirectory()
        credentialsFile = Self.expanded(
            variable("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials", home: home)
        configurationFile = Self.expanded(variable("AWS_CONFIG_FILE") ?? "~/.aws/config", home: home)
    }

    /// For messages.
    var paths: String { "\(credentialsFile) and \(configurationFile)" }

    /// The profile's settings; those of the file of credentials come first. Nil where neither file has the profile.
    func settings() -> [String: String]? {
        let first = Self.sections(ofFile: credentialsFile)[profile]
        let sections = Self.sections(ofFile: configurationFile)
        let second = sections["profile \(profile)"] ?? (profile == "default" ? sections["default"] : nil)
        guard first != nil || second != nil else { return nil }
        return (first ?? [:]).merging(second ?? [:]) { first, _ in first }
    }

    private static func expanded(_ path: String, home: String) -> String {
        path.hasPrefix("~/") ? home + path.dropFirst(1) : path
    }

    private static func sections(ofFile path: String) -> [String: [String: String]] {
        guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return [:] }
        return sections(of: String(decoding: content, as: UTF8.self))
    }

    static func sections(of text: String) -> [String: [String: String]] {
        var sections: [String: [String: String]] = [:]
        var current: String?
        for line in text.split(whereSeparator: \.isNewline) {
            // Lines that are indented belong to nested settings, of which none is needed.
            guard let first = line.first, !first.isWhitespace, first != "#", first != ";" else { continue }
            if first == "[" {
                guard let end = line.firstIndex(of: "]") else { continue }
                let name = line[line.index(after: line.startIndex)..<end]
                    .split(whereSeparator: \.isWhitespace).joined(separator: " ")
                current = name
                sections[name, default: [:]] = sections[name] ?? [:]
            } else if let current, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].filter { !$0.isWhitespace }.lowercased()
                let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
                sections[current, default: [:]][name] = value
            }
        }
        return sections
    }
}
