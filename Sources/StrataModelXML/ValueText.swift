import Foundation
import StrataModelFile

/// What the text of a default value or a limit means for an attribute's type.
///
/// Xcode's editor leaves such texts as they are when an attribute's type is changed, and its compiler takes whatever
/// they hold of the new type: "0.0" and "NO" are 0 for an integer. So old versions of shipped models are full of them,
/// and nobody can change those at will.
enum ValueText {
    /// The text is a value of the type.
    case exact(ModelDocument.Value)
    /// The text is a value of another type, which is turned into one of this type.
    case converted(ModelDocument.Value)
    /// The text says nothing about a value of the type.
    case unfit

    init(_ text: String, of type: ModelDocument.AttributeType) {
        switch type {
        case .integer16: self = Self.integer(text, Int16.self)
        case .integer32: self = Self.integer(text, Int32.self)
        case .integer64: self = Self.integer(text, Int64.self)
        case .double, .float:
            if let number = Double(text) {
                self = .exact(.real(number))
            } else {
                self = ElementAttributes.flag(text).map { .converted(.real($0 ? 1 : 0)) } ?? .unfit
            }
        case .decimal:
            if Self.isDecimal(text) {
                self = .exact(.decimal(text))
            } else {
                self = ElementAttributes.flag(text).map { .converted(.decimal($0 ? "1" : "0")) } ?? .unfit
            }
        case .boolean:
            // An attribute that was a number once may have kept one.
            self = (ElementAttributes.flag(text) ?? Double(text).map { $0 != 0 }).map { .exact(.boolean($0)) } ?? .unfit
        case .string: self = .exact(.string(text))
        case .uuid: self = UUID(uuidString: text).map { .exact(.string($0.uuidString)) } ?? .unfit
        case .uri: self = URL(string: text).map { _ in .exact(.string(text)) } ?? .unfit
        case .undefined, .date, .binary, .transformable, .objectID, .composite: self = .unfit
        }
    }

    /// An integer as it is written, the integer part of another number, or 0 and 1 for a truth value.
    private static func integer<Integer: FixedWidthInteger>(_ text: String, _ type: Integer.Type) -> Self {
        if let number = Integer(text) { return .exact(.integer(Int64(number))) }
        if let flag = ElementAttributes.flag(text) { return .converted(.integer(flag ? 1 : 0)) }
        guard let number = Double(text), number.isFinite else { return .unfit }
        // Checked as a number of the type, so that a value without room is not cut to something else.
        return Integer(exactly: number.rounded(.towardZero)).map { .converted(.integer(Int64($0))) } ?? .unfit
    }

    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.count <= 256 && text.wholeMatch(of: /[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?/) != nil
    }
}
