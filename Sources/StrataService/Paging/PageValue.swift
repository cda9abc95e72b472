import Foundation
import Strata

/// The value of a sort key, as a cursor has it.
enum PageValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case decimal(Decimal)
    case text(String)
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case uri(URL)

    /// Which values a key can have.
    enum Kind: UInt8 {
        case integer = 1
        case real, decimal, text, date, data, uuid, uri
    }

    /// Nil for a value that is none of the kind. Not-a-number counts as null, as it does in the store.
    init?(_ value: Any?, _ kind: Kind) {
        switch (kind, Operand(value)) {
        case (_, .null): self = .null
        case (.integer, .integer(let value)): self = .integer(value)
        case (.real, .double(let value)): self = value.isNaN ? .null : .real(value)
        // A number in a Foundation box may be an integer.
        case (.real, .integer(let value)): self = .real(Double(value))
        case (.date, .date(let value)): self = value.isNaN ? .null : .date(value)
        case (.decimal, .decimal(let value)): self = value.isNaN ? .null : .decimal(value)
        case (.decimal, .integer(let value)): self = .decimal(Decimal(value))
        case (.decimal, .double(let value)): self = value.isNaN ? .null : .decimal(Decimal(value))
        case (.text, .string(let value)): self = .text(value)
        case (.data, .data(let value)): self = .data(value)
        case (.uuid, .uuid(let value)): self = .uuid(value)
        case (.uri, .url(let value)): self = .uri(value)
        default: return nil
        }
    }

    /// What a predicate compares with.
    var constant: Any? {
        switch self {
        case .null: nil
        case .integer(let value): value
        case .real(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .text(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let value): value
        }
    }

    var isNull: Bool { self == .null }

    /// Whether the store sorts the two as equal, which it does with 0 and -0.
    func isTied(with other: PageValue) -> Bool { Operand(constant).order(Operand(other.constant)) == .orderedSame }

    // MARK: Bytes

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0)
        case .integer(let value): Self.append(.integer, UInt64(bitPattern: value), &bytes)
        case .real(let value): Self.append(.real, value.bitPattern, &bytes)
        case .date(let value): Self.append(.date, value.bitPattern, &bytes)
        case .decimal(let value): Self.append(.decimal, Array(value.description.utf8), &bytes)
        case .text(let value): Self.append(.text, Array(value.utf8), &bytes)
        case .data(let value): Self.append(.data, Array(value), &bytes)
        case .uuid(let value): Self.append(.uuid, PageBytes.bytes(of: value), &bytes)
        case .uri(let value): Self.append(.uri, Array(value.absoluteString.utf8), &bytes)
        }
    }

    private static func append(_ kind: Kind, _ word: UInt64, _ bytes: inout [UInt8]) {
        bytes.append(kind.rawValue)
        bytes += PageBytes.bytes(of: word)
    }

    private static func append(_ kind: Kind, _ content: [UInt8], _ bytes: inout [UInt8]) {
        bytes.append(kind.rawValue)
        bytes += PageBytes.bytes(of: UInt64(content.count)) + content
    }

    /// Reads a value of a kind, or null; nil when the bytes are something else.
    init?(_ kind: Kind, from bytes: inout ArraySlice<UInt8>) {
        guard let tag = bytes.popFirst() else { return nil }
        if tag == 0 {
            self = .null
            return
        }
        guard tag == kind.rawValue else { return nil }
        switch kind {
        case .integer, .real, .date:
            guard let word = Self.word(&bytes) else { return nil }
            if kind == .integer {
                self = .integer(Int64(bitPattern: word))
                return
            }
            let number = Double(bitPattern: word)
            if number.isNaN { return nil }
            self = kind == .real ? .real(number) : .date(number)
        case .decimal, .text, .data, .uuid, .uri:
            guard let count = Self.word(&bytes), count <= bytes.count else { return nil }
            let content = bytes.prefix(Int(count))
            bytes = bytes.dropFirst(Int(count))
            guard let value = PageValue(kind, content) else { return nil }
            self = value
        }
    }

    private static func word(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return PageBytes.word(bytes.prefix(8))
    }

    private init?(_ kind: Kind, _ content: ArraySlice<UInt8>) {
        if kind == .data {
            self = .data(Data(content))
            return
        }
        if kind == .uuid {
            guard let value = PageBytes.uuid(content) else { return nil }
            self = .uuid(value)
            return
        }
        guard let text = String(validating: content, as: UTF8.self) else { return nil }
        switch kind {
        case .text: self = .text(text)
        case .decimal:
            // Foundation reads a number that only begins with one.
            guard let value = Decimal(string: text), value.description == text else { return nil }
            self = .decimal(value)
        case .uri:
            guard let value = URL(string: text), value.absoluteString == text else { return nil }
            self = .uri(value)
        default: return nil
        }
    }
}
