import Foundation

/// A compiled mapping model (".cdm") in Strata's form, as ``CompiledModel`` is for models.
public enum CompiledMapping {
    /// Whether bytes look like a compiled mapping model in Strata's form; they may still be damaged.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public static func isCompiledMapping(_ data: Data) -> Bool {
        MarkedPropertyList<MappingDocument>.isOne(data)
    }

    /// The document as bytes. What only Xcode's editor uses of its models is left out.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable` if it has more than 64 MiB.
    public static func data(of document: MappingDocument) throws -> Data {
        var document = document
        document.sourceModel?.editor = ModelDocument.Editor()
        document.destinationModel?.editor = ModelDocument.Editor()
        return try MarkedPropertyList.data(of: document)
    }

    /// Reads what ``data(of:)`` made. Bytes from anywhere are safe to try.
    ///
    /// - Throws: ``ModelFileError`` with `damaged` or `unsupportedVersion`.
    public static func document(from data: Data) throws -> MappingDocument {
        try MarkedPropertyList.value(from: data)
    }
}

extension MappingDocument: CompiledValue {
    static var formatKey: String { "StrataMappingFormat" }
    static var valueKey: String { "StrataMapping" }
    static var noun: String { "mapping model" }
}
