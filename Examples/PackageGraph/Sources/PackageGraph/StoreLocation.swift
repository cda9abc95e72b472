import Foundation

/// Where the store lies, and whether it goes when the program does.
struct StoreLocation: Sendable {
    /// A place that cannot take a store.
    struct PlaceError: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path): \(reason)" }
    }

    /// The store's URL.
    let url: URL
    /// The folder to remove in the end.
    private let temporaryFolder: URL?
    var isTemporary: Bool { temporaryFolder != nil }

    /// A place for a new store: the path given, or one in a new temporary folder.
    init(path: String?) throws {
        if let path {
            guard !FileManager.default.fileExists(atPath: path) else {
                throw PlaceError(path: path, reason: "exists already; remove it or give --store another path")
            }
            url = URL(fileURLWithPath: path)
            temporaryFolder = nil
            return
        }
        // /tmp is often memory, where being durable costs nothing and means nothing.
        let isDirectory = FileManager.default.isWritableFile(atPath: "/var/tmp")
        let parent = isDirectory ? URL(fileURLWithPath: "/var/tmp") : FileManager.default.temporaryDirectory
        let folder = parent.appendingPathComponent("packagegraph-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw PlaceError(path: parent.path, reason: "no folder can be made there: \(error.localizedDescription)")
        }
        temporaryFolder = folder
        url = folder.appendingPathComponent("PackageGraph.store")
    }

    /// Removes the store if it is not to be kept.
    func removeIfTemporary() {
        if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
    }

    /// What the store takes on disk, in bytes: the lengths of its files.
    func byteCount() -> Int {
        let keys: [URLResourceKey] = [.fileSizeKey, .isRegularFileKey]
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: keys)
        var total = 0
        while let file = files?.nextObject() as? URL {
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            total += (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }
        return total
    }
}
