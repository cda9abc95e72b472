/// Something that is wrong with a model file, or looks wrong.
public struct ModelDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable {
        /// The model cannot be used.
        case error
        /// The model can be used and probably does something else than was meant.
        case warning
    }

    /// How bad it is.
    public var severity: Severity
    /// The path of the file, if there is one.
    public var file: String?
    /// The line in the file, from 1.
    public var line: Int?
    /// The entity that it is about.
    public var entity: String?
    /// The property of the entity, or what else it is about.
    public var property: String?
    /// What is wrong.
    public var message: String

    /// Creates a diagnostic without a place in a file.
    public init(_ severity: Severity, entity: String? = nil, property: String? = nil, _ message: String) {
        self.severity = severity
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// The diagnostic as compilers print theirs: "file:line: warning: Entity.property: message".
    public var description: String {
        var text = ""
        if let file {
            text += file + ":"
            if let line { text += "\(line):" }
            text += " "
        }
        text += severity.rawValue + ": "
        let subject = [entity, property].compactMap(\.self).joined(separator: ".")
        return subject.isEmpty ? text + message : text + subject + ": " + message
    }
}
