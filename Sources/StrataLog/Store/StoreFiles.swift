internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// The files of a store and their names.
///
/// | name | what |
/// |---|---|
/// | `LOCK` | held by the writing process, whose pid it contains |
/// | `MANIFEST` | newest checkpoint and durable point: a cache |
/// | `TAIL` | memory that processes share: how far the log counts, for those who follow it |
/// | `RESERVE` | space for a compaction when the disk is full; what is in it does not matter |
/// | `STRATA-VOID` | while it is there, the directory holds no store: what else is there is left of making or removing one |
/// | `00000001.seg` ... | the log, number in hexadecimal |
/// | `00000001.chk` ... | checkpoints: caches of the index |
///
/// Once the directory is held, all names are looked up in it and in no other, wherever its path leads by then. Once the
/// lock in it is held, names are made, replaced and removed only while path and lock are still this store's: a writer
/// changes nothing of a store that has taken the place of its own.
struct StoreFiles: Sendable {
    let fileSystem: any FileSystem
    let directory: FilePath
    var held: HeldDirectory?
    /// Which file the writer has locked; nil for readers.
    var lockIdentity: FileIdentity?

    init(fileSystem: any FileSystem, directory: FilePath) {
        self.fileSystem = fileSystem
        self.directory = directory
    }

    var lock: FilePath { directory.appending("LOCK") }
    var tail: FilePath { directory.appending("TAIL") }
    var manifest: FilePath { directory.appending("MANIFEST") }
    var reserve: FilePath { directory.appending("RESERVE") }
    var void: FilePath { directory.appending("STRATA-VOID") }

    func segment(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "seg")) }
    func checkpoint(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "chk")) }
    /// What a checkpoint is called until it is complete.
    func unfinishedCheckpoint(_ number: UInt32) -> FilePath { directory.appending(Self.name(number, "tmp")) }

    fileprivate static func name(_ number: UInt32, _ suffix: String) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits + "." + suffix
    }

    /// Whether a name is one that the files of stores have. No others are ever removed or replaced.
    static func isOwn(_ name: String) -> Bool { isFixed(name) || numbered(name) != nil }

    private static func isFixed(_ name: String) -> Bool {
        switch name {
        case "LOCK", "MANIFEST", "TAIL", "RESERVE", "STRATA-VOID": true
        default: false
        }
    }

    private static func numbered(_ text: String) -> (number: UInt32, suffix: String)? {
        guard text.utf8.count == 12, let number = UInt32(text.prefix(8), radix: 16), number > 0 else { return nil }
        let suffix = String(text.suffix(3))
        guard ["seg", "chk", "tmp"].contains(suffix), name(number, suffix) == text else { return nil }
        return (number, suffix)
    }

    struct Listing {
        var segments: [UInt32] = []
        var checkpoints: [UInt32] = []
        var unfinished: [UInt32] = []
        /// `MANIFEST`, `TAIL`, `RESERVE`, of which there is none before a store is complete.
        var others: [String] = []
        /// Whether the files that are there count for nothing.
        var isVoid = false
        var isLocked = false
        /// Names that no store gives its files.
        var foreign: [String] = []

        /// Whether nothing has a name of a store.
        var isForeign: Bool { !isLocked && !isVoid && !holdsSomething }

        /// Whether there is something of a store, be it damaged or unfinished.
        var holdsSomething: Bool {
            !segments.isEmpty || !checkpoints.isEmpty || !unfinished.isEmpty || !others.isEmpty
        }

        /// Whether what is there can be of a store that was never complete: its first segment is made before all else.
        var canBeUnborn: Bool {
            checkpoints.isEmpty && unfinished.isEmpty && others.isEmpty && (segments.isEmpty || segments == [1])
        }

        mutating func add(_ name: String) {
            switch name {
            case "LOCK": isLocked = true
            case "STRATA-VOID": isVoid = true
            case _ where isFixed(name): others.append(name)
            default:
                switch numbered(name) {
                case (let number, "seg")? where number <= Location.maximumSegment: segments.append(number)
                // The highest number has no successor; no store counts that far.
                case (let number, "chk")? where number < UInt32.max: checkpoints.append(number)
                case (let number, "tmp")?: unfinished.append(number)
                default: foreign.append(name)
                }
            }
        }
    }

    /// What is in the directory, numbers ascending.
    func list() throws(StoreError) -> Listing {
        var listing = Listing()
        let names = try io("list directory", directory) { () throws(Errno) in
            if let held { return try held.directory.list() }
            return try fileSystem.list(directory)
        }
        for name in names { listing.add(name) }
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
    } catch .tooManySymbolicLinkLevels {
        // Links are not followed where the store has files. It is no damage, which could be cut off.
        throw StoreError(
            .unsupportedFormat,
            "could not \(doing): a symbolic link lies where a file of a store should be, or links go round in a circle. "
                + "Nothing was changed", errno: .tooManySymbolicLinkLevels, path: path.string)
    } catch .staleNFSFileHandle {
        throw StoreError.displaced("could not \(doing)", path)
    } catch {
        throw StoreError(.io, "could not \(doing)", errno: error, path: path.string)
    }
}
