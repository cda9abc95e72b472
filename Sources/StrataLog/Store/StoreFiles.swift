internal import StrataIO
internal import SystemPackage

/// The files of a store and their names.
///
/// | name | what |
/// |---|---|
/// | `LOCK` | held by the writing process, whose pid it contains |
/// | `MANIFEST` | newest checkpoint and durable point: a cache |
/// | `TAIL` | memory that processes share: how far the log counts, for those who follow it |
/// | `RESERVE` | space for a compaction when the disk is full; what is in it does not matter |
/// | `00000001.seg` ... | the log, number in hexadecimal |
/// | `00000001.chk` ... | checkpoints: caches of the index |
struct StoreFiles: Sendable {
    let fileSystem: any FileSystem
    let directory: FilePath

    var lock: FilePath { directory.appending("LOCK") }
    var tail: FilePath { directory.appending("TAIL") }
    var manifest: FilePath { directory.appending("MANIFEST") }
    var reserve: FilePath { directory.appending("RESERVE") }

    func segment(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "seg")) }
    func checkpoint(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "chk")) }
    /// What a checkpoint is called until it is complete.
    func unfinishedCheckpoint(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "tmp")) }

    fileprivate static func name(_ number: UInt32, _ suffix: String) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits + "." + suffix
    }

    struct Listing {
        var segments: [UInt32] = []
        var checkpoints: [UInt32] = []
        var unfinished: [UInt32] = []
        var hasManifest = false
    }

    /// What is in the directory, numbers ascending; files of other names are ignored.
    func list() throws(StoreError) -> Listing {
        var listing = Listing()
        let names = try io("list directory", directory) { () throws(Errno) in try fileSystem.list(directory) }
        for name in names {
            if name == "MANIFEST" { listing.hasManifest = true }
            guard name.count == 12, let number = UInt32(name.prefix(8), radix: 16), number > 0 else { continue }
            switch name.suffix(4) {
            case ".seg" where number <= Location.maximumSegment: listing.segments.append(number)
            // The highest number has no successor; no store counts that far.
            case ".chk" where number < UInt32.max: listing.checkpoints.append(number)
            case ".tmp": listing.unfinished.append(number)
            default: break
            }
        }
        listing.segments.sort()
        listing.checkpoints.sort()
        return listing
    }
}

extension LogStore {
    /// The name of a segment's file in the store's directory.
    public static func segmentFileName(_ number: UInt32) -> String { StoreFiles.name(number, "seg") }
}

/// Runs a system call and says in the error what was being done to which file.
func io<Result: ~Copyable>(
    _ doing: String, _ path: FilePath, _ call: () throws(Errno) -> Result
) throws(StoreError) -> Result {
    do {
        return try call()
    } catch {
        throw StoreError(.io, "could not \(doing)", errno: error, path: path.string)
    }
}
