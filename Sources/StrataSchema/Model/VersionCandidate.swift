import Foundation
import StrataModelFile

/// A version of a model that a store may have been written with. If its hashes are known from a list, its file is read
/// only if it was.
struct VersionCandidate {
    /// There is no version of these hashes.
    struct NotFound: Error {}

    private enum Source {
        case model(NSManagedObjectModel)
        case file(URL)
    }

    /// By entity.
    let hashes: [String: Data]
    private let source: Source

    init(_ model: NSManagedObjectModel) {
        source = .model(model)
        hashes = model.entityVersionHashesByName
    }

    init(_ file: URL, listedAs hashes: [String: Data]) {
        source = .file(file)
        self.hashes = hashes
    }

    /// - Throws: ``NotFound`` if the file cannot be read, or has other hashes than the list says.
    func model() throws(NotFound) -> NSManagedObjectModel {
        switch source {
        case .model(let model): return model
        case .file(let url):
            guard let model = NSManagedObjectModel(contentsOf: url), model.entityVersionHashesByName == hashes else {
                throw NotFound()
            }
            return model
        }
    }
}

/// The lists of versions beside compiled models, each read once.
final class ListedVersions {
    private var lists: [URL: [String: [String: Data]]] = [:]
    /// Whether any list has told the hashes of a version.
    private(set) var wereUsed = false

    /// - Returns: nil for a file that is not listed and cannot be read.
    func candidate(at file: URL) -> VersionCandidate? {
        let hashes = list(in: file.deletingLastPathComponent())[file.deletingPathExtension().lastPathComponent] ?? [:]
        guard hashes.isEmpty else {
            wereUsed = true
            return VersionCandidate(file, listedAs: hashes)
        }
        return NSManagedObjectModel(contentsOf: file).map { VersionCandidate($0) }
    }

    private func list(in directory: URL) -> [String: [String: Data]] {
        if let list = lists[directory] { return list }
        let info = VersionInfo(in: directory).flatMap { $0.isOwn ? $0.hashes : nil } ?? [:]
        lists[directory] = info
        return info
    }
}
