import HTTPTypes
import StrataBrowsing

/// The forms of an answer.
enum AnswerFormat: String {
    case html
    case json
    case csv
    /// Server-sent events.
    case events
}

/// What a request asks for: a path, a form and parameters.
struct Query: Sendable {
    let path: String
    let format: AnswerFormat
    private let parameters: [(name: String, value: String)]

    /// - Parameter target: as the request line has it: a path, and a query behind a question mark.
    /// - Throws: ``InspectError`` for what is not encoded as it has to be.
    init(_ target: String) throws {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = try Self.decoded(parts[0])
        var format = AnswerFormat.html
        for other in [AnswerFormat.json, .csv, .events] where path.hasSuffix(".\(other.rawValue)") {
            path.removeLast(other.rawValue.count + 1)
            format = other
        }
        // One slash at the beginning: with two a link would lead to another server. Of the first page, /.json.
        self.path = "/" + path.drop { $0 == "/" }
        self.format = format
        parameters = try (parts.count > 1 ? parts[1] : "").split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (try Self.decoded(pair[0]), pair.count > 1 ? try Self.decoded(pair[1]) : "")
        }
    }

    /// A parameter; nil when it is missing or empty, as fields of forms are that nobody filled in.
    subscript(_ name: String) -> String? {
        parameters.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    func required(_ name: String) throws -> String {
        guard let value = self[name] else { throw InspectError(.badRequest, "the parameter \(name) is missing") }
        return value
    }

    /// A number of rows; the default where none is named.
    func limit() throws -> Int {
        guard let text = self["limit"] else { return Limits.defaultRows }
        guard let number = Int(text), 1...Limits.rows ~= number else {
            throw InspectError(.badRequest, "limit is a number from 1 to \(Limits.rows), not \(text)")
        }
        return number
    }

    func number(_ name: String) throws -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw InspectError(.badRequest, "\(name) is a number from 0 up, not \(text)")
        }
        return number
    }

    /// A point of the past.
    func point(_ name: String) throws -> Point? {
        guard let text = self[name] else { return nil }
        guard let point = Point(text) else {
            throw InspectError(
                .badRequest, "\(name) is a transaction's number or a time such as 2026-05-01T12:00, not \(text)")
        }
        return point
    }

    /// The same request in another form, or with other parameters.
    func link(_ format: AnswerFormat = .html, setting changes: KeyValuePairs<String, String?> = [:]) -> Link {
        let changed = Set(changes.map(\.key))
        let kept = parameters.filter { !changed.contains($0.name) && $0.name != "token" }
        return Link(
            path + (format == .html ? "" : ".\(format.rawValue)"),
            kept.map { ($0.name, $0.value) } + changes.map { ($0.key, $0.value) })
    }

    private static func decoded(_ text: Substring) throws -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard rest.count >= 2, let value = UInt8(digits, radix: 16) else {
                    throw InspectError(.badRequest, "the URL has a % that no two hexadecimal digits follow")
                }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InspectError(.badRequest, "the URL is not in UTF-8")
        }
        return text
    }
}
