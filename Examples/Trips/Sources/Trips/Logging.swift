// For programs that log by Apple's frameworks: copy this file into a target, and calls of `os_log` and `Logger` compile
// unchanged and write to standard error. `privacy:`, `format:` and `align:` are ignored.

import Foundation

struct OSLog: Sendable {
    enum Level: String { case `default`, debug, info, notice, warning, error, fault, critical }
    static let `default` = OSLog(subsystem: "", category: "")
    static let disabled = OSLog(isOn: false, subsystem: "", category: "")
    var isOn = true
    let subsystem: String, category: String
    init(subsystem: String, category: String) { self.init(isOn: true, subsystem: subsystem, category: category) }
    private init(isOn: Bool, subsystem: String, category: String) {
        (self.isOn, self.subsystem, self.category) = (isOn, subsystem, category)
    }
    func isEnabled(type: Level) -> Bool { isOn }
    func write(_ type: Level, _ text: String) {
        if isOn { FileHandle.standardError.write(Data("\(category) \(type): \(text)\n".utf8)) }
    }
}
typealias OSLogType = OSLog.Level

func os_log(_ format: StaticString, log: OSLog = .default, type: OSLogType = .default, _ arguments: Any?...) {
    var values = arguments.map { $0.map { "\($0)" } ?? "nil" }[...]
    let specifier = #/%(\{[a-z, ]+\})?[-+ 0#]*[0-9]*(\.[0-9]+)?(hh|h|ll|l|z|q)?[@a-zA-Z]/#
    log.write(type, "\(format)".replacing(specifier) { _ in values.popFirst() ?? "" })
}
@_disfavoredOverload func os_log(_ message: LogMessage) { OSLog.default.write(.default, message.text) }
func os_log(_ type: OSLogType, log: OSLog = .default, _ message: LogMessage) { log.write(type, message.text) }

struct Logger: Sendable {
    var log = OSLog.default
    init() {}
    init(_ log: OSLog) { self.log = log }
    init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }
    func log(level: OSLogType = .default, _ message: LogMessage) { log.write(level, message.text) }
    func debug(_ message: LogMessage) { log(level: .debug, message) }
    func trace(_ message: LogMessage) { log(level: .debug, message) }
    func info(_ message: LogMessage) { log(level: .info, message) }
    func notice(_ message: LogMessage) { log(level: .notice, message) }
    func warning(_ message: LogMessage) { log(level: .warning, message) }
    func error(_ message: LogMessage) { log(level: .error, message) }
    func fault(_ message: LogMessage) { log(level: .fault, message) }
    func critical(_ message: LogMessage) { log(level: .critical, message) }
}

struct LogMessage: ExpressibleByStringInterpolation {
    enum Privacy {
        case auto, `public`, `private`, sensitive
        enum Mask { case none, hash }
        static func auto(mask: Mask) -> Privacy { .auto }
        static func `private`(mask: Mask) -> Privacy { .private }
        static func sensitive(mask: Mask) -> Privacy { .sensitive }
    }
    struct Format {
        static let decimal = Format(), hex = Format(), octal = Format(), fixed = Format(), hybrid = Format()
        static let exponential = Format(), truth = Format(), answer = Format()
        static func fixed(precision: Int, explicitPositiveSign: Bool = false) -> Format { Format() }
        static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 1) -> Format { Format() }
        static func hex(explicitPositiveSign: Bool = false, includePrefix: Bool = true) -> Format { Format() }
    }
    struct Alignment {
        static let none = Alignment()
        static func left(columns: Int) -> Alignment { Alignment() }
        static func right(columns: Int) -> Alignment { Alignment() }
    }
    struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        init(literalCapacity: Int, interpolationCount: Int) {}
        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(
            _ value: Any?, format: Format? = nil, align: Alignment = .none, privacy: Privacy = .auto
        ) {
            text += value.map { "\($0)" } ?? "nil"
        }
    }
    let text: String
    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}
