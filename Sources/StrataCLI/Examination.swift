import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Examines a store, or the directory that one is to be made in.
final class Examination {
    let url: URL
    private(set) var findings: [Finding] = []
    /// The names in the directory.
    private(set) var names: [String] = []
    /// The process that has the store, if one has.
    private(set) var holder: LockedBy?

    struct LockedBy {
        /// Nil where it is not known, or its number is that of another container.
        var process: RunningProcess?
    }

    var isStore: Bool { names.contains("MANIFEST") || names.contains { $0.hasSuffix(".seg") } }

    init(_ url: URL) {
        self.url = url
    }

    func run() {
        do {
            names = try PosixFileSystem().list(FilePath(url.path)).sorted()
        } catch {
            return examineMissing(error)
        }
        examinePermissions()
        examineFileSystem()
        examineSpace()
        if isStore { examineLock() }
        examineLimits()
        examineEnvironment()
        examineLeftovers()
        if isStore { examineStore() }
    }

    func add(_ check: String, _ state: Finding.State, _ text: String, remedy: String? = nil) {
        findings.append(Finding(check: check, state: state, text: text, remedy: remedy))
    }

    private func examineMissing(_ error: Errno) {
        switch error {
        case .noSuchFileOrDirectory:
            add(
                "directory", .problem, "there is no \(url.path)", remedy: "name the store's directory, or the one above"
            )
        case .notDirectory:
            add(
                "directory", .problem, "\(url.path) is a file, and a store of the log is a directory",
                remedy:
                    "a file of Core Data's is made a store by: strata import --core-data \(url.lastPathComponent) STORE"
            )
        default:
            add(
                "permissions", .problem, "\(url.path) cannot be read: \(error)",
                remedy: "run as the user that the store belongs to, or change its owner")
        }
    }

    // MARK: Permissions

    private func examinePermissions() {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return }
        var isSound = true
        func problem(_ text: String, _ remedy: String) {
            isSound = false
            add("permissions", .problem, text, remedy: remedy)
        }
        if access(url.path, W_OK | X_OK) != 0 {
            problem(
                "user \(geteuid()) may not write in \(url.path), which belongs to user \(status.st_uid)",
                "run as user \(status.st_uid), or give the directory to user \(geteuid()) with chown")
        }
        guard isStore else {
            if isSound { add("permissions", .ok, "a store can be made in \(url.path)") }
            return
        }
        if status.st_mode & 0o077 != 0 {
            problem(
                "others than its user may look into the store (mode \(String(status.st_mode & 0o777, radix: 8)))",
                "chmod 700 \(url.path)")
        }
        var (unreadable, open, foreignOwner): ([String], [String], [String]) = ([], [], [])
        for name in names where Self.isOfStore(name) {
            let path = url.appendingPathComponent(name).path
            var file = stat()
            guard lstat(path, &file) == 0 else { continue }
            if access(path, R_OK | W_OK) != 0 { unreadable.append(name) }
            if file.st_mode & 0o077 != 0 { open.append(name) }
            if file.st_uid != status.st_uid { foreignOwner.append(name) }
        }
        if !foreignOwner.isEmpty {
            problem(
                "files belong to another user than the directory does: \(Self.listed(foreignOwner))",
                "chown -R \(status.st_uid) \(url.path), while no process has the store")
        }
        if !unreadable.isEmpty, access(url.path, W_OK | X_OK) == 0 {
            problem(
                "user \(geteuid()) may not read and write \(Self.listed(unreadable))",
                "run as the user that the files belong to, or chmod 600 them")
        }
        if !open.isEmpty {
            problem(
                "others than their user may read or write \(Self.listed(open))",
                "chmod 600 \(url.path)/*")
        }
        if isSound { add("permissions", .ok, "user \(status.st_uid) alone has access") }
    }

    // MARK: Limits

    private func examineLimits() {
        let limits = holder?.process?.limits ?? RunningProcess.ownLimits
        let whose = holder?.process.map { " of \($0)" } ?? ""
        let segments = names.filter { $0.hasSuffix(".seg") }.count
        // Each segment is an open file; a server has its connections beside them.
        let needed = segments * 2 + 256
        if let descriptors = limits.descriptors, descriptors < needed {
            add(
                "descriptors", .problem, "the limit\(whose) is \(descriptors), and the store has \(segments) segments",
                remedy: "ulimit -n \(max(4_096, needed * 2)), or LimitNOFILE= of the service")
        } else {
            let text = limits.descriptors.map { "\($0)" } ?? "none"
            add("descriptors", .ok, "the limit\(whose) is \(text), for \(segments) segments")
        }
        if let bytes = limits.fileBytes {
            let isEnough = bytes >= 64 << 20
            add(
                "file size", isEnough ? .note : .problem, "the limit\(whose) is \(ByteSize.text(bytes)) a file",
                remedy: isEnough ? nil : "ulimit -f unlimited, or LimitFSIZE=infinity of the service")
        }
    }

    private func examineEnvironment() {
        let process = holder?.process
        let environment = process.map(\.environment) ?? ProcessInfo.processInfo.environment
        let whose = process.map { " of \($0)" } ?? ""
        if let environment {
            if let arenas = environment["MALLOC_ARENA_MAX"] {
                add("memory", .ok, "MALLOC_ARENA_MAX\(whose) is \(arenas)")
            } else {
                add(
                    "memory", .note, "MALLOC_ARENA_MAX\(whose) is not set",
                    remedy: "for a service of many threads set it to 4: memory stays lower after a load")
            }
        }
        // What a program has set is not known here; all on a machine begin with the same.
        let limit = ControlGroup.memoryLimit(of: process.map { "\($0.number)" } ?? "self")
        guard let limit, limit < StrataMemory.budgetBytes * 2 else { return }
        add(
            "memory", .note,
            "the control group\(whose) may use \(ByteSize.text(limit)), and caches take up to "
                + "\(ByteSize.text(StrataMemory.budgetBytes)) unless the program has said otherwise",
            remedy: "set StrataMemory.budgetBytes to a quarter of the limit before stores are opened")
    }

    // MARK: Lock and leftovers

    private func examineLock() {
        let path = FilePath(url.appendingPathComponent("LOCK").path)
        guard let file = try? PosixFileSystem().open(path, .read) else {
            return add("lock", .ok, "no process has written the store yet, or its LOCK cannot be read")
        }
        defer { try? file.close() }
        guard (try? file.isLockedElsewhere()) == true else {
            return add("lock", .ok, "no process has the store open for writing")
        }
        let process = RunningProcess(lockedBy: file)
        holder = LockedBy(process: process)
        add("lock", .note, "\(process?.description ?? "a process of another container") has the store open for writing")
    }

    private func examineLeftovers() {
        var isClean = true
        let above = url.deletingLastPathComponent()
        let name = url.lastPathComponent
        for suffix in isStore ? ["strata-copy", "strata-new", "strata-old"] : [] {
            let path = above.appendingPathComponent("\(name).\(suffix)").path
            guard FileManager.default.fileExists(atPath: path) else { continue }
            isClean = false
            let isBusy = Self.isLocked(above.appendingPathComponent(".\(name).strata-lock"))
            add(
                "leftovers", isBusy ? .note : .problem,
                isBusy ? "the store is being copied or replaced: \(path)" : "a crash has left \(path)",
                remedy: isBusy ? nil : "open the store for writing once: that ends or removes what was interrupted")
        }
        guard isStore else { return }
        if names.contains("STRATA-VOID") {
            isClean = false
            add(
                "leftovers", .problem, "the store was being made or removed and is none: STRATA-VOID",
                remedy: "open it for writing, which makes it anew, or restore a back-up")
        }
        let unfinished = names.filter { $0.hasSuffix(".tmp") && Self.isOfStore($0) }
        if !unfinished.isEmpty, holder == nil {
            isClean = false
            add(
                "leftovers", .note, "a crash has left unfinished checkpoints: \(Self.listed(unfinished))",
                remedy: "the next opening for writing removes them")
        }
        let foreign = names.filter { !Self.isOfStore($0) }
        if !foreign.isEmpty {
            isClean = false
            add(
                "leftovers", .note, "no store has files of these names: \(Self.listed(foreign))",
                remedy: "move them elsewhere: they are lost when the store is replaced")
        }
        if isClean { add("leftovers", .ok, "none") }
    }

    private static func isLocked(_ url: URL) -> Bool {
        (try? PosixFileSystem().open(FilePath(url.path), .read).isLockedElsewhere()) ?? false
    }

    // MARK: The store

    private func examineStore() {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        do throws(StoreError) {
            let log = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
            defer { try? log.close() }
            examineClock(log.snapshot)
            try StoreMetadata.check(log.metadata)
            add("store", .ok, "it can be opened; `strata verify` reads every byte of it")
        } catch  where error.code == .corruption {
            add(
                "store", .problem, "it is damaged: \(error)",
                remedy: "copy the directory as it is, then strata verify \(url.lastPathComponent)")
        } catch {
            add("store", .problem, "it cannot be opened: \(CommandError(error))", remedy: "see the other findings")
        }
    }

    private func examineClock(_ snapshot: Snapshot) {
        let now = Date()
        let newest = Date(timeIntervalSince1970: Double(snapshot.timestampNanoseconds) / 1e9)
        // Clocks that are being adjusted may be a little behind.
        if snapshot.sequence > 0, newest > now.addingTimeInterval(1) {
            let seconds = Int(newest.timeIntervalSince(now))
            add(
                "clock", .problem,
                "it says \(Point.text(now)), \(seconds) s before the newest transaction of \(Point.text(newest))",
                remedy: "set the clock (timedatectl status); until then times do not tell states of the past apart")
        } else {
            add("clock", .ok, "it says \(Point.text(now))")
        }
    }

    // MARK: Names

    /// Whether a store gives its files such a name.
    static func isOfStore(_ name: String) -> Bool {
        if ["LOCK", "MANIFEST", "TAIL", "RESERVE", "STRATA-VOID"].contains(name) { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy { $0.isHexDigit && !$0.isUppercase }
            && ["seg", "chk", "tmp"].contains(parts[1])
    }

    static func listed(_ names: [String]) -> String {
        names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
    }
}
