import Foundation
import StrataSupport

extension FormatPredicateFactory {
    /// A predicate from a string that a user has written.
    ///
    /// Never stops the program, whatever the string, and lets through only what compares properties with constants and
    /// with each other, and the built-in functions. The string may have `PredicateFormatError.maximumLengthBytes` bytes
    /// and nest `PredicateFormatError.maximumDepth` levels. Constants that `CAST` would have to make (dates, UUIDs)
    /// come as arguments, or `features` has `.casts`.
    ///
    /// Evaluating the predicate never stops the program either, and does not go on for ever: it may take a million
    /// steps, and in a request ten thousand more for each object that is looked at. A request that needs more throws
    /// `CocoaError` 134070; `evaluate(with:)` is false then.
    ///
    ///     let predicate = try NSPredicate(validating: text, for: Employee.entity())
    ///
    /// - Parameters:
    ///   - format: the notation, as for `NSPredicate(format:)`.
    ///   - arguments: one value for each placeholder. A string with more placeholders than that is refused: pass none
    ///     where a user writes the whole string.
    ///   - entity: with one, of a model, the predicate also is what a fetch for it checks: keys that the entity does
    ///     not have, and constants of types that cannot be compared with a property, are refused. The model cannot be
    ///     changed after that.
    ///   - features: what the string may use in addition.
    /// - Throws: `PredicateFormatError` with the position and the reason.
    /// - Complexity: O(n) in the length of the string.
    public init(
        validating format: String, arguments: [Any?] = [], for entity: NSEntityDescription? = nil,
        allowing features: PredicateFeatures = []
    ) throws(PredicateFormatError) {
        let parsed = try PredicateParser.predicate(format, arguments)
        do throws(PredicateValidation.Problem) {
            try PredicateValidation(allowing: features).check(parsed)
        } catch {
            throw PredicateFormatError(format, error.reason, near: error.near)
        }
        var predicate = parsed
        if let entity {
            do {
                let shape = EntityShape.of(entity)
                try KeyPathChecker(shape, allowsVariables: features.contains(.variables)).check(parsed)
                predicate = try ConstantTypes(shape).apply(to: parsed)
            } catch {
                let text = (error as NSError).localizedDescription
                throw PredicateFormatError(format, text, near: Self.firstQuoted(text, in: format))
            }
        }
        guard let made = predicate.bounded as? Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSPredicate cannot be made from a format", "Create an NSPredicate")
        }
        self = made
    }

    /// The word of a message that the string has, too: what it is about.
    private static func firstQuoted(_ text: String, in format: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber && !"._$".contains($0) }
        for word in words {
            // Names of properties are said with their entity.
            let name = word.split(separator: ".").dropFirst().last.map { String($0) }
            if format.contains(word), word.count > 1 { return String(word) }
            if let name, format.contains(name) { return name }
        }
        return ""
    }
}

extension PredicateFormatError {
    /// An error at the first place where the string has a text; at the beginning if it has not.
    fileprivate init(_ format: String, _ reason: String, near text: String) {
        let range = text.isEmpty ? nil : format.range(of: text, options: .caseInsensitive)
        let position = range.map { format.unicodeScalars.distance(from: format.startIndex, to: $0.lowerBound) } ?? 0
        // A sentence without a full stop.
        self.init(
            format: format, position: position, reason: reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
    }
}
