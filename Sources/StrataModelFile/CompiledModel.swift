import Foundation

/// A compiled model (".mom") in Strata's form: the document as a binary property list, under a key that tells it from
/// Apple's, which is a keyed archive.
public enum CompiledModel {
    /// Whether bytes look like a compiled model in Strata's form; they may still be damaged.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public static func isCompiledModel(_ data: Data) -> Bool { MarkedPropertyList<ModelDocument>.isOne(data) }

    /// The document as bytes. What only Xcode's editor uses is left out.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable` if it has more than 64 MiB.
    public static func data(of document: ModelDocument) throws -> Data {
        var document = document
        document.editor = ModelDocument.Editor()
        return try MarkedPropertyList.data(of: document)
    }

    /// Reads what ``data(of:)`` made. Bytes from anywhere are safe to try.
    ///
    /// - Throws: ``ModelFileError`` with `damaged` or `unsupportedVersion`.
    public static func document(from data: Data) throws -> ModelDocument {
        try MarkedPropertyList.value(from: data)
    }
}

extension ModelDocument: CompiledValue {
    static var formatKey: String { "StrataModelFormat" }
    static var valueKey: String { "StrataModel" }
    static var noun: String { "model" }
}
