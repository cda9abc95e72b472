import Foundation
import StrataBrowsing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Examination {
    func examineFileSystem() {
        guard let type = Self.fileSystemType(at: url.path) else {
            return add("file system", .note, "its kind cannot be told: /proc/self/mountinfo does not say")
        }
        switch type {
        case "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs":
            add("file system", .ok, type)
        case "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "lustre", "gfs2", "ocfs2", "fuse.sshfs",
            "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "glusterfs", "beegfs":
            add(
                "file system", .problem, "\(type), a network file system, whose locks and flushes cannot be relied on",
                remedy: "put the store on a local disk: ext4, XFS or Btrfs")
        case "tmpfs", "ramfs", "overlay", "aufs":
            add(
                "file system", .note, "\(type), which does not outlive the machine or container",
                remedy: "put a store that is to stay on a disk, in a container on a volume")
        default:
            add(
                "file system", .note, "\(Cell.visible(type)), which Strata is not tested on",
                remedy: "make sure that it is local, and has locks, fdatasync and fsync of directories")
        }
    }

    /// What is mounted where the path lies, by the last and innermost mount.
    static func fileSystemType(at path: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return nil }
        var found: (length: Int, type: String)?
        for line in text.split(separator: "\n") {
            // ID, parent, device, root, mount point, options, optional fields, "-", type, source, options.
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            let point = unescaped(fields[4])
            guard path == point || path.hasPrefix(point == "/" ? point : point + "/") else { continue }
            if point.utf8.count >= found?.length ?? 0 { found = (point.utf8.count, String(fields[dash + 1])) }
        }
        return found?.type
    }

    /// Spaces and the like are octal numbers there.
    private static func unescaped(_ text: Substring) -> String {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")].reduce(String(text)) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    func examineSpace() {
        guard let free = FreeSpace(at: url) else { return }
        if free.isReadOnly {
            add(
                "space", .problem, "the file system is read-only",
                remedy: "mount it read-write; see the kernel's log for why")
        }
        var (total, checkpoint) = (0, 0)
        for name in names where Self.isOfStore(name) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(name).path)
            let size = (attributes?[.size] as? NSNumber)?.intValue ?? 0
            total += size
            if name.hasSuffix(".chk") { checkpoint = max(checkpoint, size) }
        }
        // A segment, what compaction writes before it frees something, and a checkpoint.
        let needed = (64 << 20) + min(total / 16, 32 << 20) + checkpoint
        if free.bytes < needed {
            add(
                "space", .problem,
                "\(ByteSize.text(free.bytes)) are free, and saves and compaction want \(ByteSize.text(needed))",
                remedy: "make room; a full disk fails saves with 134030, and nothing is lost")
        } else {
            add("space", .ok, "\(ByteSize.text(free.bytes)) are free, the store has \(ByteSize.text(total))")
        }
        guard let inodes = free.inodes else { return }
        if inodes < 1_000 {
            add("inodes", .problem, "\(inodes) are free", remedy: "remove files: each segment and checkpoint is one")
        } else {
            add("inodes", .ok, "\(inodes) are free")
        }
    }
}
