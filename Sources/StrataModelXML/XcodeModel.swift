import CStrataSupport
import Foundation
@_exported import StrataModelFile

/// Xcode's model files: ".xcdatamodel" and ".xcdatamodeld" directories, and the "contents" in them.
public enum XcodeModel {
    /// What reading a model has brought: the model, and whatever is wrong with it.
    public struct Reading: Sendable {
        /// All versions; an ".xcdatamodel" is its own only version.
        public var model: VersionedModel
        /// What is wrong, in the order of the files. Elements and attributes that nobody knows are warnings.
        public var diagnostics: [ModelDiagnostic]
    }

    /// Reads a model and throws if there is an error in it; warnings are left aside.
    ///
    /// - Parameter url: an ".xcdatamodeld", an ".xcdatamodel" or a "contents" file.
    /// - Throws: ``ModelFileError`` with `unreadable` or `damaged`.
    public static func model(contentsOf url: URL) throws -> VersionedModel {
        let reading = try read(contentsOf: url)
        if let error = reading.diagnostics.first(where: { $0.severity == .error }) {
            throw ModelFileError(.damaged, "\(error)")
        }
        return reading.model
    }

    /// Reads a model and says what is wrong in it. Files from anywhere are safe to try.
    ///
    /// Versions in the form of Xcode 3 are left out with a warning, unless there is no other or it is the current one.
    ///
    /// - Parameters:
    ///   - url: an ".xcdatamodeld", an ".xcdatamodel" or a "contents" file.
    ///   - linting: whether to add what ``ModelLint`` finds: errors in all versions, warnings in the current one.
    /// - Throws: ``ModelFileError`` with `unreadable` or `damaged` when there is nothing to be read at all.
    public static func read(contentsOf url: URL, linting: Bool = false) throws -> Reading {
        let name = url.deletingPathExtension().lastPathComponent
        guard url.pathExtension == "xcdatamodeld" else {
            let version = try readVersion(at: url, name: name, lint: linting ? .warning : nil)
            return Reading(
                model: VersionedModel(versions: [version.version], currentName: name),
                diagnostics: version.diagnostics)
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }.sorted()
        } catch {
            throw ModelFileError(.unreadable, "\(url.path): \(error.localizedDescription)")
        }
        guard !names.isEmpty else { throw ModelFileError(.unreadable, "\(url.path): there is no version in it") }
        func location(_ name: String) -> URL {
            url.appendingPathComponent(name + ".xcdatamodel", isDirectory: true)
        }
        let older = Set(names.filter { isOlderThanXML(location($0)) })
        let current = try currentName(in: url, among: names, older)
        var reading = Reading(
            model: VersionedModel(versions: [], currentName: current),
            diagnostics: [])
        for name in names {
            if older.contains(name), name != current {
                var diagnostic = ModelDiagnostic(.warning, "\(formIsOlder), and is left out")
                diagnostic.file = location(name).path
                reading.diagnostics.append(diagnostic)
                continue
            }
            let part = try readVersion(
                at: location(name), name: name,
                lint: linting ? (name == current ? .warning : .error) : nil)
            reading.model.versions.append(part.version)
            reading.diagnostics += part.diagnostics
        }
        return reading
    }

    /// Reads the XML of one version.
    ///
    /// - Parameters:
    ///   - data: the contents of a "contents" file.
    ///   - file: the path that diagnostics name.
    ///   - lint: the least severity of what ``ModelLint`` finds to be among the diagnostics; nil for nothing of it.
    /// - Throws: ``ModelFileError`` with `damaged` for what is no XML.
    public static func read(
        _ data: Data, file: String, lint: ModelDiagnostic.Severity? = nil
    ) throws -> (document: ModelDocument, diagnostics: [ModelDiagnostic]) {
        let root: ModelElement
        do {
            root = try ModelElementReader.read(data)
        } catch let error as ModelFileError {
            throw ModelFileError(error.code, "\(file): \(error.message)")
        }
        let list = DiagnosticList(file: file)
        let document = ContentsReader(list: list).read(root)
        // What could not be read is missing in the document, which would be told once more.
        if let lint, !list.diagnostics.contains(where: { $0.severity == .error }) {
            list.add(ModelLint.check(document).filter { lint == .warning || $0.severity == .error })
        }
        return (document, list.diagnostics)
    }

    /// The XML of a document. Equal documents give equal bytes, and what is read from them is the document again.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable` for what the XML cannot say: validation predicates, orders of
    ///   requests, default values of transformable attributes.
    public static func data(of document: ModelDocument) throws -> Data {
        var writer = ContentsWriter()
        try writer.write(document)
        return Data(writer.text.utf8)
    }

    /// Writes a document as an ".xcdatamodel" directory, over the one that may be there.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable`.
    public static func write(_ document: ModelDocument, to url: URL) throws {
        let data = try data(of: document)
        // Foundation opens the files.
        strata_standard_descriptors_occupy()
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try data.write(to: url.appendingPathComponent("contents"), options: .atomic)
        } catch {
            throw ModelFileError(.unwritable, "\(url.path): \(error.localizedDescription)")
        }
    }

    /// Writes all versions as an ".xcdatamodeld" directory, with the name of the current one. Versions that are there
    /// under other names stay.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable`.
    public static func write(_ model: VersionedModel, to url: URL) throws {
        for version in model.versions {
            let directory = url.appendingPathComponent(try version.fileName("xcdatamodel"), isDirectory: true)
            try write(version.document, to: directory)
        }
        let list = ["_XCCurrentVersionName": model.currentName + ".xcdatamodel"]
        do {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            try data.write(to: url.appendingPathComponent(".xccurrentversion"), options: .atomic)
        } catch {
            throw ModelFileError(.unwritable, "\(url.path): \(error.localizedDescription)")
        }
    }

    private static func readVersion(
        at url: URL, name: String, lint: ModelDiagnostic.Severity?
    ) throws -> (version: VersionedModel.Version, diagnostics: [ModelDiagnostic]) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelFileError(.unreadable, "\(url.path): no such file")
        }
        let file = isDirectory.boolValue ? url.appendingPathComponent("contents") : url
        if isOlderThanXML(url) {
            throw ModelFileError(.unreadable, "\(url.path): \(formIsOlder); open and save the model in Xcode")
        }
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ModelFileError(.unreadable, "\(file.path): \(error.localizedDescription)")
        }
        let read = try read(data, file: file.path, lint: lint)
        return (VersionedModel.Version(name: name, document: read.document), read.diagnostics)
    }

    private static let formIsOlder = "this form is older than Xcode 4.3"

    /// Whether a version is in Xcode 3's form: archives of the editor's own classes.
    static func isOlderThanXML(_ version: URL) -> Bool {
        func holds(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: version.appendingPathComponent(name).path)
        }
        return holds("elements") && !holds("contents")
    }

    /// The current version: what ".xccurrentversion" names, or the only one.
    private static func currentName(
        in directory: URL, among names: [String], _ older: Set<String>
    ) throws -> String {
        let file = directory.appendingPathComponent(".xccurrentversion")
        guard FileManager.default.fileExists(atPath: file.path) else {
            // Xcode does without the file while there is one version, and takes the first one if somebody lost it.
            return names.first { !older.contains($0) } ?? names[0]
        }
        guard let data = try? Data(contentsOf: file),
            let list = try? PropertyListFile.dictionary(data),
            let name = list["_XCCurrentVersionName"] as? String
        else { throw ModelFileError(.damaged, "\(file.path): it names no version") }
        guard name.hasSuffix(".xcdatamodel"), names.contains(String(name.dropLast(".xcdatamodel".count))) else {
            throw ModelFileError(.damaged, "\(file.path): it names '\(name)', which is not there")
        }
        return String(name.dropLast(".xcdatamodel".count))
    }
}
