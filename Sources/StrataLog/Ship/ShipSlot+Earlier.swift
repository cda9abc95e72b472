package import StrataIO
package import SystemPackage

/// Slots under the names that versions before gave them.
extension ShipSlot {
    /// A slot of a version before, and its file.
    ///
    /// Such a slot names a bucket by its description, which buckets of two servers may share: whether it is that of a
    /// bucket, the bucket's head decides, which names the slot's ``ShipSlot/line``.
    package struct Earlier: Sendable {
        package let slot: ShipSlot
        package let path: FilePath
    }

    /// The name of the first version ends so.
    static let firstSuffix = "strata-ship"

    /// Where the first version had the slot of the only bucket that a store could have, without the line that says
    /// whether it was shipped: it had been if a bucket was named.
    static func firstPath(besideStoreAt directory: FilePath) -> FilePath {
        let (parent, prefix) = place(besideStoreAt: directory)
        return parent.appending(String(prefix.dropLast()))
    }

    /// The slots of a store, under names of versions before, for buckets that describe themselves in some way.
    ///
    /// - Parameter bucket: The identity of the bucket whose slot has the name of now.
    /// - Throws: `.io`, `.corruption`: there may be one.
    package static func earlier(
        besideStoreAt directory: FilePath, storeUUID: StoreUUID, description: String, bucket: String,
        in fileSystem: any FileSystem
    ) throws(StoreError) -> [Earlier] {
        let hashed = path(besideStoreAt: directory, bucket: description)
        var paths = [firstPath(besideStoreAt: directory)]
        if hashed != path(besideStoreAt: directory, bucket: bucket) { paths.append(hashed) }
        var found: [Earlier] = []
        for path in paths {
            guard let slot = try read(path, in: fileSystem), slot.storeUUID == storeUUID, slot.hasShipped,
                slot.bucket == name(ofBucket: description)
            else { continue }
            found.append(Earlier(slot: slot, path: path))
        }
        return found
    }
}

extension ShipSlot.Earlier {
    /// Removes the file, whose slot has the name of now. If that fails, it stays and counts until the next shipper.
    package func remove(in fileSystem: any FileSystem) {
        try? fileSystem.unlink(path)
    }
}
