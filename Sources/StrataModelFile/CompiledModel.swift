import Foundation

/// A compiled model (".mom") in Strata's form: the document as a binary property list, under a key that tells it from
/// Apple's, which is a keyed archive.
public enum CompiledModel {
    private static let marker = "StrataModelFormat"
    private static let version = 1
    /// Larger files are refused.
    static let maximumByteCount = 64 << 20

    private struct Header: Codable {
        var version: Int

        private enum CodingKeys: String, CodingKey {
            case version = "StrataModelFormat"
        }
    }

    private struct Contents: Codable {
        var version: Int
        var model: ModelDocument

        private enum CodingKeys: String, CodingKey {
            case version = "StrataModelFormat"
            case model = "StrataModel"
        }
    }

    /// Whether bytes look like a compiled model in Strata's form; they may still be damaged.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public static func isCompiledModel(_ data: Data) -> Bool {
        data.starts(with: Data("bplist".utf8)) && data.range(of: Data(marker.utf8)) != nil
    }

    /// The document as bytes. What only Xcode's editor uses is left out.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable` if it has more than 64 MiB.
    public static func data(of document: ModelDocument) throws -> Data {
        var document = document
        document.editor = ModelDocument.Editor()
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data: Data
        do {
            data = try encoder.encode(Contents(version: version, model: document))
        } catch {
            throw ModelFileError(.unwritable, "the model cannot be compiled: \(error)")
        }
        guard data.count <= maximumByteCount else {
            throw ModelFileError(.unwritable, "the model takes \(data.count) bytes; \(maximumByteCount) are possible")
        }
        return data
    }

    /// Reads what ``data(of:)`` made. Bytes from anywhere are safe to try.
    ///
    /// - Throws: ``ModelFileError`` with `damaged` or `unsupportedVersion`.
    public static func document(from data: Data) throws -> ModelDocument {
        guard data.count <= maximumByteCount, isCompiledModel(data) else {
            throw ModelFileError(.damaged, "these bytes are no compiled model of Strata's")
        }
        let decoder = PropertyListDecoder()
        do {
            let found = try decoder.decode(Header.self, from: data).version
            guard found <= version else {
                throw ModelFileError(.unsupportedVersion, "format \(found) of the model is newer than this library")
            }
            return try decoder.decode(Contents.self, from: data).model
        } catch let error as ModelFileError {
            throw error
        } catch {
            throw ModelFileError(.damaged, "the compiled model is damaged: \(error)")
        }
    }
}
