import Foundation
import Strata
import SystemPackage

extension NSPersistentStore {
    /// What the store is called in metrics and in the answer to a probe: not by its path, which is nobody's business.
    var serviceName: String { url?.lastPathComponent ?? identifier ?? "" }

    /// As events have it.
    var eventPath: String? { url.map { FilePath($0.path).string } }

    /// What is free on its file system for this process, in bytes; nil where that cannot be told.
    var freeBytes: Int? {
        guard let url else { return nil }
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: url.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }
}
