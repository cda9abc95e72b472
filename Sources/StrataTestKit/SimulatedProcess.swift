package import StrataIO
package import SystemPackage

/// A process's view of a simulated file system that it shares with others: it can die in the middle of any call, while
/// the machine and the others go on.
///
/// Used by one thread.
package final class SimulatedProcess: FileSystem, @unchecked Sendable {
    // Unchecked: used by one thread.

    /// What becomes of a call that changes something.
    package enum Verdict {
        case done
        case fails(Errno)
        /// At most so many bytes of it are written, and then the process is gone (or the call fails).
        case partial(Int, dies: Bool)
        /// It is done, and then the process is gone.
        case doneAndDies
    }

    package enum Kind {
        case write
        case flush
        case other
    }

    private let base: SimulatedFileSystem
    /// Asked before each call that changes something.
    package var verdict: (Kind) -> Verdict = { _ in .done }
    /// Called before and after each such call.
    package var interleave: () -> Void = {}
    package private(set) var isDead = false
    private var files: [SimulatedProcessFile] = []
    private var pages: [SharedPage] = []
    /// The shared memory as it was when the process died: what it wrote later it has not written.
    private var words: [[UInt64]] = []

    package init(_ base: SimulatedFileSystem) {
        self.base = base
    }

    /// Ends the process: its files are closed, its locks free.
    package func die() {
        guard !isDead else { return }
        isDead = true
        words = pages.map { page in (0..<8).map { page.load($0) } }
        for file in files { try? file.base.close() }
    }

    /// Takes back what the code of the dead process has stored in shared memory since.
    package func undoLateStores() {
        die()
        for (page, words) in zip(pages, words) {
            for (index, word) in words.enumerated() { page.store(index, word) }
        }
    }

    func perform<R>(
        _ kind: Kind, partially part: (Int) throws(Errno) -> Void = { _ in }, _ call: () throws(Errno) -> R
    ) throws(Errno) -> R {
        try checkAlive()
        interleave()
        let decision = verdict(kind)
        defer { if !isDead { interleave() } }
        switch decision {
        case .done: return try call()
        case .fails(let error): throw error
        case .partial(let count, let dies):
            // A process that is killed leaves whole sectors; one that goes on may find any part written.
            try part(dies ? -count : count)
            if dies { die() }
            throw dies ? .ioError : .noSpace
        case .doneAndDies:
            let result = try call()
            die()
            return result
        }
    }

    func checkAlive() throws(Errno) {
        if isDead { throw .ioError }
    }

    package func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        try checkAlive()
        // Making a file is a change as well.
        if mode == .create || mode == .createIfMissing { interleave() }
        return keep(try base.open(path, mode))
    }

    package func createDirectory(_ path: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.createDirectory(path) }
    }

    package func list(_ directory: FilePath) throws(Errno) -> [String] {
        try checkAlive()
        return try base.list(directory)
    }

    package func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.rename(source, to: target) }
    }

    package func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.exchange(first, with: second) }
    }

    package func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        try checkAlive()
        return SimulatedProcessDirectory(try base.openDirectory(path), self)
    }

    func keep(_ file: any File) -> any File {
        let file = SimulatedProcessFile(file, self)
        files.append(file)
        return file
    }

    package func unlink(_ path: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.unlink(path) }
    }

    package func removeDirectory(_ path: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.removeDirectory(path) }
    }

    package func syncDirectory(_ path: FilePath) throws(Errno) {
        try perform(.other) { () throws(Errno) in try base.syncDirectory(path) }
    }

    package func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        try checkAlive()
        return try base.attributes(path)
    }

    package func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        try checkAlive()
        return try base.linkAttributes(path)
    }

    package func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        try checkAlive()
        return try base.resolve(path)
    }

    package func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try checkAlive()
        return keep(try base.sharedPage(path, mode))
    }

    func keep(_ page: SharedPage) -> SharedPage {
        if !pages.contains(where: { $0 === page }) { pages.append(page) }
        return page
    }
}

final class SimulatedProcessFile: File {
    let base: any File
    private let process: SimulatedProcess

    init(_ base: any File, _ process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try process.checkAlive()
        return try base.read(into: buffer, at: offset)
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try process.perform(
            .write,
            partially: { count throws(Errno) in
                var rest = count
                if count < 0 {
                    let end = (offset - Int64(count)) / 512 * 512
                    rest = Int(max(end - offset, 0))
                }
                var position = offset
                for buffer in buffers where rest > 0 {
                    let piece = UnsafeRawBufferPointer(rebasing: buffer[..<min(rest, buffer.count)])
                    _ = try base.write([piece], at: position)
                    position += Int64(piece.count)
                    rest -= piece.count
                }
            }
        ) { () throws(Errno) in try base.write(buffers, at: offset) }
    }

    func syncData() throws(Errno) {
        try process.perform(.flush) { () throws(Errno) in try base.syncData() }
    }

    func sync() throws(Errno) {
        try process.perform(.flush) { () throws(Errno) in try base.sync() }
    }

    func truncate(to byteCount: Int64) throws(Errno) {
        try process.perform(.other) { () throws(Errno) in try base.truncate(to: byteCount) }
    }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try process.perform(.other) { () throws(Errno) in try base.preallocate(from: offset, byteCount: byteCount) }
    }

    func byteCount() throws(Errno) -> Int64 {
        try process.checkAlive()
        return try base.byteCount()
    }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try process.checkAlive()
        return try base.map(from: offset, byteCount: byteCount)
    }

    func tryLockExclusively() throws(Errno) -> Bool {
        try process.checkAlive()
        return try base.tryLockExclusively()
    }

    func isLockedElsewhere() throws(Errno) -> Bool {
        try process.checkAlive()
        return try base.isLockedElsewhere()
    }

    func identity() throws(Errno) -> FileIdentity? {
        try process.checkAlive()
        return try base.identity()
    }

    func close() throws(Errno) {
        try base.close()
    }
}

final class SimulatedProcessDirectory: Directory {
    private let base: any Directory
    private let process: SimulatedProcess

    init(_ base: any Directory, _ process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    func list() throws(Errno) -> [String] {
        try process.checkAlive()
        return try base.list()
    }

    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        try process.checkAlive()
        return try base.attributes(of: name)
    }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        try process.checkAlive()
        if mode == .create || mode == .createIfMissing { process.interleave() }
        return process.keep(try base.open(name, mode))
    }

    func rename(_ source: String, to target: String) throws(Errno) {
        try process.perform(.other) { () throws(Errno) in try base.rename(source, to: target) }
    }

    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try process.checkAlive()
        return process.keep(try base.sharedPage(name, mode))
    }

    func unlink(_ name: String) throws(Errno) {
        try process.perform(.other) { () throws(Errno) in try base.unlink(name) }
    }

    func sync() throws(Errno) {
        try process.perform(.other) { () throws(Errno) in try base.sync() }
    }

    func identity() throws(Errno) -> FileIdentity {
        try process.checkAlive()
        return try base.identity()
    }
}
