import Foundation

/// Chooses the files that the compiler is asked about: printing all of a large target would take long.
///
/// What is chosen by its text may well turn out to be about something else; that costs time and nothing more.
enum RelevantSources {
    /// The files that mention managed objects, and those that extend or inherit a class which these declare.
    static func among(_ files: [SourceText]) -> [SourceText] {
        let texts = files.map { String(decoding: $0.bytes, as: UTF8.self) }
        var isRelevant = texts.map { $0.contains("@NSManaged") || $0.contains("NSManagedObject") }
        guard isRelevant.contains(true) else { return [] }
        var names: Set<String> = []
        // Each round may find classes whose subclasses or extensions are in still other files.
        var known = -1
        while known != names.count {
            known = names.count
            for index in files.indices where isRelevant[index] { names.formUnion(declared(texts[index])) }
            for index in files.indices where !isRelevant[index] {
                isRelevant[index] = !names.isDisjoint(with: mentioned(texts[index]))
            }
        }
        return zip(files, isRelevant).filter(\.1).map(\.0)
    }

    private static func declared(_ text: String) -> Set<String> { words(classes, text) }

    private static func mentioned(_ text: String) -> Set<String> { words(uses, text) }

    private static func words(_ pattern: NSRegularExpression?, _ text: String) -> Set<String> {
        let whole = text as NSString
        let matches = pattern?.matches(in: text, range: NSRange(location: 0, length: whole.length)) ?? []
        return Set(matches.map { whole.substring(with: $0.range(at: 1)) })
    }

    private static let classes = try? NSRegularExpression(pattern: #"\b(?:class|typealias)\s+(\w+)"#)
    private static let uses = try? NSRegularExpression(
        pattern: #"(?:\bextension\s+(?:\w+\.)*|\bclass\s+\w+\s*:\s*(?:\w+\.)*)(\w+)"#)
}

extension SourceText {
    func contains(_ text: String) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }
}
