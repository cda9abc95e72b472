internal import StrataIO
internal import StrataLog
internal import StrataSupport
internal import SystemPackage

/// The files of a store that is being restored, in a directory that is kept open: what comes to its path meanwhile is
/// not written into.
struct RestoredFiles: Sendable {
    let directory: any Directory
    /// For messages.
    let path: FilePath

    /// Writes and flushes a file.
    ///
    /// - Throws: `.local`.
    func write(_ bytes: [UInt8], _ name: String) throws(ShipError) {
        do throws(Errno) {
            let file = try directory.open(name, .createIfMissing)
            defer { try? file.close() }
            try file.truncate(to: 0)
            try bytes.withBytes { bytes throws(Errno) in try file.writeAll([bytes], at: 0) }
            try file.sync()
        } catch {
            let path = path.appending(name)
            let remedy = error == .noSpace ? ". Make room and try again: nothing was left behind" : ""
            throw ShipError(
                .local, "could not write \(path): \(error)\(remedy)",
                storeError: StoreError(.io, "could not write", errno: error, path: path.string))
        }
    }

    /// - Throws: `.local`.
    func remove(_ name: String) throws(ShipError) {
        do throws(Errno) {
            try directory.unlink(name)
        } catch {
            throw ShipError(.local, "could not remove \(path.appending(name)): \(error)")
        }
    }
}
