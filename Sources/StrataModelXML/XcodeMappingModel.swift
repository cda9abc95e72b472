import Foundation
import StrataModelFile

/// Xcode's mapping model files: ".xcmappingmodel" directories, and the "xcmapping.xml" in them.
public enum XcodeMappingModel {
    /// What reading a mapping model has brought: the mapping model, and whatever is wrong with it.
    public struct Reading: Sendable {
        /// The mapping model, with both versions of the model. Properties whose values Xcode makes up by itself have
        /// expressions, too.
        public var document: MappingDocument
        /// What is wrong, by lines; the entity of a diagnostic is the name of a mapping. Attributes that nobody knows
        /// are warnings.
        public var diagnostics: [ModelDiagnostic]
    }

    /// Reads a mapping model and says what is wrong in it. Files from anywhere are safe to try.
    ///
    /// - Parameters:
    ///   - url: an ".xcmappingmodel" or an "xcmapping.xml".
    ///   - models: ".xcdatamodeld" and ".xcdatamodel" directories. The mapping model names two versions by their paths,
    ///     which are looked for among these by their last names. One that is not there is taken from the copy that
    ///     Xcode has put into the mapping model.
    /// - Throws: ``ModelFileError`` with `unreadable` or `damaged` when there is nothing to be read at all.
    public static func read(contentsOf url: URL, models: [URL] = []) throws -> Reading {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelFileError(.unreadable, "\(url.path): no such file")
        }
        let file = isDirectory.boolValue ? url.appendingPathComponent("xcmapping.xml") : url
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ModelFileError(.unreadable, "\(file.path): \(error.localizedDescription)")
        }
        return try read(data, file: file.path, models: models)
    }

    /// Reads the XML of a mapping model, as ``read(contentsOf:models:)``.
    ///
    /// - Parameter file: the path that diagnostics name.
    /// - Throws: ``ModelFileError`` with `damaged` for what is no XML; `unreadable` or `damaged` for a model.
    public static func read(_ data: Data, file: String, models: [URL] = []) throws -> Reading {
        let root: ModelElement
        do {
            root = try ModelElementReader.read(data, allowsDocumentType: true)
        } catch let error as ModelFileError {
            throw ModelFileError(error.code, "\(file): \(error.message)")
        }
        let list = DiagnosticList(file: file)
        let reader = MappingReader(list: list, models: models)
        let document = try reader.read(root)
        return Reading(document: document, diagnostics: list.diagnostics)
    }
}
