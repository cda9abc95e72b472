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

    /// Its newest checkpoint: how many bytes it has, and for how many seconds it has been there. Nil before the first.
    var newestCheckpoint: (bytes: Int, age: Int)? {
        guard let url, let names = try? FileManager.default.contentsOfDirectory(atPath: url.path),
            // Their names are numbers of one length.
            let newest = names.filter({ $0.hasSuffix(".chk") }).max(),
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(newest).path),
            let bytes = attributes[.size] as? NSNumber, let time = attributes[.modificationDate] as? Date
        else { return nil }
        return (bytes.intValue, max(0, Int(-time.timeIntervalSinceNow)))
    }
}

/// Files and connections that the process has open; nil where that cannot be told.
var openDescriptors: Int? { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count }
