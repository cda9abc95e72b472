package import StrataIO
internal import StrataSupport
internal import Synchronization
package import SystemPackage

/// Who ships a store to a bucket, and how far: beside a store `NAME`, a file `NAME.strata-ship-BUCKET` for each bucket,
/// with a checksum of the bucket's identity.
///
/// A store that is copied or restored as a fork does not have it, and so does not ship in its source's place.
///
/// Compaction leaves segments alone that have not been shipped, as long as these hold no more bytes than the slot says.
/// Behind that, it leaves the one in which the log in the bucket ends: without it, nobody could tell the store from one
/// that was put back to an earlier state. On a full disk the slot counts for nothing: a shipper that never comes back
/// must not fill the disk.
package struct ShipSlot: Sendable, Hashable {
    /// What a shipper leaves that has ended with nothing on its way: the next one may go on in its epoch.
    package struct Release: Sendable, Hashable {
        package var epoch: UInt32
        package var owner: String
        /// Where the log in the bucket ends.
        package var position: LogPosition
        package var sequence: UInt64
        package var checksum: UInt32

        package init(epoch: UInt32, owner: String, position: LogPosition, sequence: UInt64, checksum: UInt32) {
            self.epoch = epoch
            self.owner = owner
            self.position = position
            self.sequence = sequence
            self.checksum = checksum
        }

        fileprivate init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count == 6, let epoch = UInt32(words[0]), let segment = UInt32(words[2]),
                let offset = Int(words[3]), let sequence = UInt64(words[4]), let checksum = UInt32(words[5])
            else { return nil }
            self.init(
                epoch: epoch, owner: String(words[1]), position: LogPosition(segment: segment, offset: offset),
                sequence: sequence, checksum: checksum)
        }

        fileprivate var line: String {
            "\(epoch) \(owner) \(position.segment) \(position.offset) \(sequence) \(checksum)"
        }
    }

    package var storeUUID: StoreUUID
    /// What shippers of this store go by in the heads of buckets, and those of its copies do not.
    package var line: String
    /// Everything before this segment has been shipped.
    package var segment: UInt32
    /// The most bytes of log that wait for the shipper; 0 if none do.
    package var maximumBytes: Int64
    /// The bucket's identity.
    package var bucket: String
    /// Whether the store has been shipped there: false before the first time. Then compaction waits for nothing.
    package var hasShipped: Bool
    /// How the last shipper to this bucket has ended; nil while one ships, or if it ended in any other way. Whether it
    /// still holds, the bucket's head decides: the slot may have been put back.
    package var release: Release?

    package init(
        storeUUID: StoreUUID, line: String, segment: UInt32, maximumBytes: Int64, bucket: String, hasShipped: Bool,
        release: Release? = nil
    ) {
        self.hasShipped = hasShipped
        self.release = release
        self.storeUUID = storeUUID
        self.line = line
        self.segment = segment
        self.maximumBytes = maximumBytes
        self.bucket = Self.name(ofBucket: bucket)
    }

    /// What a bucket with an identity is called here, in one line.
    package static func name(ofBucket identity: String) -> String {
        String(identity.map { $0.isNewline ? " " : $0 })
    }

    /// The file beside the store at a path for the bucket with an identity.
    package static func path(besideStoreAt directory: FilePath, bucket: String) -> FilePath {
        let (parent, prefix) = place(besideStoreAt: directory)
        return parent.appending(prefix + digits(FNV.digest(name(ofBucket: bucket).utf8)))
    }

    /// Where the files are, and what their names begin with.
    static func place(besideStoreAt directory: FilePath) -> (parent: FilePath, prefix: String) {
        var parent = directory
        guard let name = parent.lastComponent?.string, parent.removeLastComponent() else {
            return (directory, "strata-ship-")
        }
        return (parent.isEmpty ? "." : parent, name + ".strata-ship-")
    }

    private static let first = "strata-ship 1"
    private static let byteMaximum = 16 << 10

    /// The slot of a store for a bucket; nil where there is none.
    ///
    /// - Throws: `.io`, `.corruption`: there may be one. It must not be replaced.
    package static func read(
        besideStoreAt directory: FilePath, bucket: String, in fileSystem: any FileSystem
    ) throws(StoreError) -> ShipSlot? {
        let slot = try read(path(besideStoreAt: directory, bucket: bucket), in: fileSystem)
        return slot?.bucket == name(ofBucket: bucket) ? slot : nil
    }

    /// The slots of a store for all of its buckets, and that of a version before which no shipper has renamed so far.
    /// What is damaged is none: compaction must not wait for ever. Its shipper says what is wrong with it.
    ///
    /// - Throws: `.io`: there may be others.
    package static func all(
        besideStoreAt directory: FilePath, in fileSystem: any FileSystem
    ) throws(StoreError) -> [ShipSlot] {
        var slots: [ShipSlot] = []
        for path in try paths(besideStoreAt: directory, in: fileSystem) {
            do throws(StoreError) {
                if let slot = try read(path, in: fileSystem) { slots.append(slot) }
            } catch {
                if error.code != .corruption { throw error }
            }
        }
        return slots
    }

    private static func paths(
        besideStoreAt directory: FilePath, in fileSystem: any FileSystem
    ) throws(StoreError) -> [FilePath] {
        let (parent, prefix) = place(besideStoreAt: directory)
        let names: [String] = try io("list", parent) { () throws(Errno) in
            do throws(Errno) {
                return try fileSystem.list(parent)
            } catch .noSuchFileOrDirectory {
                return []
            } catch .permissionDenied {
                // A service may not see what lies around its folder. Where it may ship, it may list.
                return []
            }
        }
        let earlier = firstPath(besideStoreAt: directory).lastComponent?.string
        return names.filter { isSlot($0, prefix) || $0 == earlier }.sorted().map { parent.appending($0) }
    }

    private static func isSlot(_ name: String, _ prefix: String) -> Bool {
        name.hasPrefix(prefix) && isDigits(name.dropFirst(prefix.count))
    }

    /// 16 hexadecimal digits.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isDigits(_ text: Substring) -> Bool {
        text.utf8.count == 16 && text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    static func read(
        _ path: FilePath, in fileSystem: any FileSystem
    ) throws(StoreError) -> ShipSlot? {
        let found: [UInt8]? = try io("read", path) { () throws(Errno) in
            let file: any File
            do throws(Errno) {
                file = try fileSystem.open(path, .read)
            } catch .noSuchFileOrDirectory {
                return nil
            }
            defer { try? file.close() }
            var bytes = [UInt8](repeating: 0, count: byteMaximum)
            let count = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in try file.readPrefix(into: buffer, at: 0) }
            }
            return Array(bytes[..<(try count.get())])
        }
        guard let found else { return nil }
        let isEarlier = path.lastComponent?.string.hasSuffix(firstSuffix) ?? false
        let lines = String(decoding: found, as: UTF8.self).split(separator: "\n")
        guard found.count < byteMaximum, ((isEarlier ? 6 : 7)...9).contains(lines.count), lines[0] == first,
            let high = UInt64(lines[1], radix: 16), let low = UInt64(lines[2], radix: 16),
            let segment = UInt32(lines[4]), let maximum = Int64(lines[5])
        else {
            throw StoreError(
                .corruption,
                "the file that says how far a store was shipped to a bucket is damaged, or of a later version. If the store "
                    + "is no longer shipped there, remove it", path: path.string)
        }
        let hasShipped = isEarlier ? lines.count > 6 : lines.count > 7 && lines[7] == shipped
        let release = isEarlier ? 7 : 8
        return ShipSlot(
            storeUUID: StoreUUID(high: high, low: low), line: String(lines[3]), segment: segment,
            maximumBytes: maximum, bucket: lines.count > 6 ? String(lines[6]) : "", hasShipped: hasShipped,
            release: lines.count > release ? Release(lines[release]) : nil)
    }

    /// Puts the slot in the place of the one before, durably: without it, the store's next shipper would count as that
    /// of a copy.
    ///
    /// - Throws: `.io`.
    package func write(besideStoreAt directory: FilePath, in fileSystem: any FileSystem) throws(StoreError) {
        let path = Self.path(besideStoreAt: directory, bucket: bucket)
        // A name of its own: two shippers may be started at once by mistake.
        let mark = Self.digits(UInt64.random(in: .min ... .max))
        let unfinished = path.removingLastComponent().appending(
            (path.lastComponent?.string ?? "strata-ship") + "." + mark + Self.unfinishedSuffix)
        let lines = [
            Self.first, String(storeUUID.high, radix: 16), String(storeUUID.low, radix: 16), line,
            String(segment), String(maximumBytes), bucket,
        ]
        let rest = [hasShipped ? Self.shipped : nil, hasShipped ? release?.line : nil]
        let text = (lines + rest.compactMap { $0 }).joined(separator: "\n") + "\n"
        try io("write", path) { () throws(Errno) in
            do throws(Errno) {
                let file = try fileSystem.open(unfinished, .createIfMissing)
                defer { try? file.close() }
                try file.truncate(to: 0)
                try Array(text.utf8).withBytes { bytes throws(Errno) in try file.writeAll([bytes], at: 0) }
                try file.sync()
                try fileSystem.rename(unfinished, to: path)
            } catch {
                try? fileSystem.unlink(unfinished)
                throw error
            }
            let parent = path.removingLastComponent()
            try fileSystem.syncDirectory(parent.isEmpty ? "." : parent)
        }
    }

    private static let shipped = "shipped"
    private static let unfinishedSuffix = ".tmp"

    /// Removes what processes have left that crashed while they wrote the slot of a bucket.
    package static func sweep(besideStoreAt directory: FilePath, bucket: String, in fileSystem: any FileSystem) {
        let path = path(besideStoreAt: directory, bucket: bucket)
        let parent = path.removingLastComponent()
        guard let own = path.lastComponent?.string, let names = try? fileSystem.list(parent.isEmpty ? "." : parent)
        else { return }
        for name in names where name.hasPrefix(own + ".") && name.hasSuffix(unfinishedSuffix) {
            // Others are somebody's own.
            guard isDigits(name.dropFirst(own.count + 1).dropLast(unfinishedSuffix.count)) else { continue }
            // What cannot be removed only takes space.
            try? fileSystem.unlink(parent.appending(name))
        }
    }

    /// Removes the slots of a store, if there are any.
    ///
    /// - Throws: `.io`.
    package static func remove(besideStoreAt directory: FilePath, in fileSystem: any FileSystem) throws(StoreError) {
        for path in try paths(besideStoreAt: directory, in: fileSystem) {
            try io("remove", path) { () throws(Errno) in try fileSystem.unlink(path) }
        }
    }
}

extension LogStore {
    /// Where the log of the newest snapshot ends.
    package var logEnd: LogPosition { snapshot.end }

    /// The directory that the store is in.
    package var directory: FilePath { files.directory }

    /// Which of some segments compaction has to leave to shippers.
    func segmentsKeptForShipping(_ segments: [SegmentStatistics]) -> Set<UInt32> {
        guard !files.fileSystem.isPrivate else { return [] }
        // What cannot be read may be a slot that needs everything.
        guard let slots = try? ShipSlot.all(besideStoreAt: files.directory, in: files.fileSystem) else {
            return Set(segments.map(\.segment))
        }
        var kept: Set<UInt32> = []
        // Each bucket for itself: one that nothing is shipped to any more takes nothing from the others.
        // One that nothing has been shipped to may be none at all: its shipper holds what it needs while it runs.
        for slot in slots where slot.storeUUID == storeUUID && slot.hasShipped && slot.maximumBytes > 0 {
            let waiting = segments.filter { $0.segment >= slot.segment }
            if waiting.reduce(Int64(0), { $0 + Int64($1.byteCount) }) <= slot.maximumBytes {
                kept.formUnion(waiting.map(\.segment))
            } else {
                kept.insert(slot.segment)
            }
        }
        return kept
    }

    /// From now on nothing is written until the store is opened again: another machine has taken its place, perhaps.
    /// Commits throw `.readOnly`; reads go on. Waits for a commit that is being written.
    ///
    /// - Parameter reason: What commits say that are refused.
    public func refuseWrites(_ reason: String) {
        let failure = StoreError(.readOnly, reason, path: files.directory.string)
        writer.withLock { $0?.refuse(failure) }
    }
}
