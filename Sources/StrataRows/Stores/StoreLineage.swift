import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// Which store this is: under what UUID the world knows it, where it lies, and what it was copied from.
///
/// The UUID that the engine puts into its files stays the same in every copy, since checksums depend on it. Two copies
/// that are both written are two stores, though: an object ID or a history token of one means something else in the
/// other. So the metadata remembers in which directory the store was written last, and one that is found in another
/// directory gets a UUID of its own before anything else is written to it. A directory is told by its inode and the
/// time when it was created: moved, it is the same; copied or unpacked, it is another.
package struct StoreLineage: Equatable {
    /// The directory of a store.
    package struct FileIdentity: Equatable {
        package var inode: UInt64
        package var createdNanoseconds: Int64

        package init(inode: UInt64, createdNanoseconds: Int64) {
            self.inode = inode
            self.createdNanoseconds = createdNanoseconds
        }

        package init?(_ path: FilePath, _ fileSystem: any FileSystem) throws(Errno) {
            guard let found = try fileSystem.attributes(path) else { return nil }
            inode = found.inode
            createdNanoseconds = found.createdNanoseconds
        }
    }

    /// What the store was until it was copied.
    package struct Ancestor: Equatable {
        package var uuid: String
        /// The last transaction that they have in common.
        package var sequence: UInt64
    }

    package private(set) var uuid: String
    private(set) var fileIdentity: FileIdentity?
    /// Oldest first.
    private(set) var ancestors: [Ancestor] = []

    private static let key = StoreMetadata.privatePrefix + "Lineage"
    /// More are forgotten, oldest first: metadata has to stay small.
    private static let maximumAncestors = 64

    package init(_ log: LogStore) {
        self.init(StoreMetadata.entries(log), log)
    }

    private init(_ entries: [String: Any], _ log: LogStore) {
        let record = entries[Self.key] as? [String: Any] ?? [:]
        uuid = record["uuid"] as? String ?? StoreHandle.uuid(log.storeUUID).uuidString
        if let inode = record["inode"] as? NSNumber, let created = record["created"] as? NSNumber {
            fileIdentity = FileIdentity(inode: inode.uint64Value, createdNanoseconds: created.int64Value)
        }
        ancestors = (record["ancestors"] as? [[String: Any]] ?? []).compactMap { entry in
            guard let uuid = entry["uuid"] as? String, let sequence = entry["sequence"] as? NSNumber else { return nil }
            return Ancestor(uuid: uuid, sequence: sequence.uint64Value)
        }
    }

    private var plist: [String: Any] {
        var record: [String: Any] = [
            "uuid": uuid,
            "ancestors": ancestors.map {
                ["uuid": $0.uuid, "sequence": NSNumber(value: $0.sequence)] as [String: Any]
            },
        ]
        if let fileIdentity {
            record["inode"] = NSNumber(value: fileIdentity.inode)
            record["created"] = NSNumber(value: fileIdentity.createdNanoseconds)
        }
        return record
    }

    /// Before a store is written: gives it a UUID of its own if it has been copied here. Durable when it returns.
    ///
    /// - Parameter keepsUUID: for a copy that takes its source's place in every respect.
    package static func ensureOwnIdentity(
        _ log: LogStore, at path: FilePath, in fileSystem: any FileSystem, keepsUUID: Bool = false
    ) throws {
        guard !log.isReadOnly, let fileIdentity = try FileIdentity(path, fileSystem),
            StoreLineage(log).fileIdentity != fileIdentity
        else { return }
        try StoreMetadata.update(log) { entries in
            var lineage = StoreLineage(entries, log)
            guard lineage.fileIdentity != fileIdentity else { return false }
            if lineage.fileIdentity != nil, !keepsUUID {
                let ancestor = Ancestor(uuid: lineage.uuid, sequence: log.snapshot.sequence)
                lineage.ancestors = (lineage.ancestors + [ancestor]).suffix(maximumAncestors)
                lineage.uuid = UUID().uuidString
            }
            lineage.fileIdentity = fileIdentity
            entries[key] = lineage.plist
            return true
        }
    }
}

extension LogStore {
    /// The UUID that object IDs, history tokens and metrics of this store have.
    package var knownUUID: String { StoreLineage(self).uuid }
}
