public import SystemPackage

extension PosixFileSystem {
    /// open(2) and mmap(2) of the first page. A file that is too short is lengthened if it may be written.
    ///
    /// - Throws: `.notSupported` when the system does not tell one start from another, or the file cannot be mapped.
    public func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard let file = try open(path, mode) as? PosixFile else { throw .notSupported }
        return try SharedPage.ofFile(file, isWritable: mode != .read)
    }
}

extension SharedPage {
    /// The first page of a file of the operating system.
    ///
    /// - Throws: as ``PosixFileSystem/sharedPage(_:_:)``.
    static func ofFile(_ file: PosixFile, isWritable: Bool) throws(Errno) -> SharedPage {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: SharedPage.byteCount, alignment: 8)
        defer { bytes.deallocate() }
        // Read before it is mapped: what the disk cannot give is an error here, and would end the process there.
        let count = try file.readPrefix(into: bytes, at: 0)
        if count < bytes.count {
            guard isWritable else { throw .notSupported }
            let missing = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
            missing.initializeMemory(as: UInt8.self, repeating: 0)
            // Written, not skipped: a full disk is told here, too.
            try file.writeAll([UnsafeRawBufferPointer(missing)], at: Int64(count))
        }
        do throws(Errno) {
            return try file.share(isWritable: isWritable)
        } catch {
            throw .notSupported
        }
    }
}
