import Foundation
import StrataModelFile

extension NSManagedObjectModel {
    /// Makes a model of what a file describes. The model can be changed.
    ///
    /// - Parameters:
    ///   - document: the description, from `XcodeModel` or a file in another form. What only Xcode's editor and code
    ///     generation use is passed over.
    ///   - module: the module that entities' classes are in if the document says "the current module".
    /// - Throws: ``ModelError`` with `invalidModel`, which names entity and property.
    /// - Complexity: O(n) in the size of the document.
    public convenience init(document: ModelDocument, module: String? = nil) throws {
        self.init()
        var reader = DocumentReader(document, module: module)
        try reader.read(into: self)
        let problems = problems()
        guard problems.isEmpty else {
            throw ModelError(.invalidModel, problems.joined(separator: "; "))
        }
    }

    /// What a file would say about the model.
    ///
    /// - Throws: ``ModelError`` with `notEncodable` for what no file can say: predicates made of blocks, user info that
    ///   is no property list, version identifiers that are no text.
    /// - Complexity: O(n) in the size of the model.
    public func document() throws -> ModelDocument {
        try DocumentWriter().write(self)
    }

    /// Reads a compiled model of Strata's: what the build plugin makes, or what ``encoded()`` wrote.
    ///
    /// - Throws: ``ModelError`` with `damaged`, `unsupportedVersion` or `invalidModel`.
    package convenience init(compiledModel data: Data) throws {
        guard CompiledModel.isCompiledModel(data) else {
            try self.init(encoded: Array(data))
            return
        }
        let document: ModelDocument
        do {
            document = try CompiledModel.document(from: data)
        } catch let error as ModelFileError {
            throw ModelError(error.code == .unsupportedVersion ? .unsupportedVersion : .damaged, error.message)
        }
        try self.init(document: document)
    }
}
