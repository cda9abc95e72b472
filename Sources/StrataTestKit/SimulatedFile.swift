internal import StrataIO
internal import Synchronization
internal import SystemPackage

/// One opening of a file in a ``SimulatedFileSystem``.
final class SimulatedFile: File {
    private let fileSystem: SimulatedFileSystem
    private let inode: Int
    private let path: String
    private let isWritable: Bool
    private let isClosed = Atomic<Bool>(false)

    init(_ fileSystem: SimulatedFileSystem, inode: Int, path: String, isWritable: Bool) {
        self.fileSystem = fileSystem
        self.inode = inode
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        if !isClosed.load(ordering: .acquiring) {
            fileSystem.state.withLock { $0.close(inode, ObjectIdentifier(self)) }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        // The buffer stays valid for this call, and the closure does not outlive it.
        nonisolated(unsafe) let buffer = buffer
        return try perform(.read) { state, fault throws(Errno) in
            guard offset >= 0 else { throw .invalidArgument }
            let content = try state.content(inode)
            guard offset < content.byteCount else { return 0 }
            var count = min(buffer.count, content.byteCount - Int(offset))
            if case .short(let maximum) = fault?.effect { count = min(count, maximum) }
            content.copy(
                Int(offset)..<Int(offset) + count, to: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            return count
        }
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        let total = buffers.reduce(0) { $0 + $1.count }
        let all = [UInt8](unsafeUninitializedCapacity: total) { target, count in
            for buffer in buffers {
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[count...])
                    .copyMemory(from: buffer)
                count += buffer.count
            }
        }
        return try perform(.write) { state, fault throws(Errno) in
            guard isWritable else { throw .badFileDescriptor }
            guard offset >= 0 else { throw .invalidArgument }
            guard offset <= SimulatedFile.lengthMaximum - Int64(all.count) else { throw .fileTooLarge }
            var written = all
            if case .short(let maximum) = fault?.effect { written = Array(all.prefix(maximum)) }
            guard !written.isEmpty else { return 0 }
            state.record(.write, path, .write(inode: inode, offset: Int(offset), bytes: written))
            return written.count
        }
    }

    func syncData() throws(Errno) {
        try flush(.syncData)
    }

    func sync() throws(Errno) {
        try flush(.sync)
    }

    func truncate(to byteCount: Int64) throws(Errno) {
        try perform(.truncate) { state, _ throws(Errno) in
            guard isWritable, byteCount >= 0 else { throw .invalidArgument }
            guard byteCount <= SimulatedFile.lengthMaximum else { throw .fileTooLarge }
            state.record(.truncate, path, .truncate(inode: inode, byteCount: Int(byteCount)))
        }
    }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try perform(.preallocate) { state, _ throws(Errno) in
            guard isWritable else { throw .badFileDescriptor }
            guard offset >= 0, byteCount >= 0 else { throw .invalidArgument }
            guard byteCount > 0 else { return }
            guard byteCount <= SimulatedFile.lengthMaximum - offset else { throw .fileTooLarge }
            state.record(.preallocate, path, .preallocate(inode: inode, end: Int(offset + byteCount)))
        }
    }

    func byteCount() throws(Errno) -> Int64 {
        try perform(.byteCount) { state, _ throws(Errno) in Int64(try state.content(inode).byteCount) }
    }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try perform(.map) { state, _ throws(Errno) in
            let content = try state.content(inode)
            guard offset >= 0, byteCount >= 0, offset <= content.byteCount,
                byteCount <= content.byteCount - Int(offset)
            else { throw .invalidArgument }
            return content.region(Int(offset)..<Int(offset) + byteCount)
        }
    }

    func tryLockExclusively() throws(Errno) -> Bool {
        let owner = ObjectIdentifier(self)
        return try perform(.lock) { state, _ throws(Errno) in
            guard isWritable else { throw .badFileDescriptor }
            if state.locks[inode] == nil { state.locks[inode] = owner }
            return state.locks[inode] == owner
        }
    }

    func isLockedElsewhere() throws(Errno) -> Bool {
        guard !isClosed.load(ordering: .acquiring) else { throw .badFileDescriptor }
        let owner = ObjectIdentifier(self)
        return fileSystem.state.withLock { state in state.locks[inode].map { $0 != owner } ?? false }
    }

    func identity() throws(Errno) -> FileIdentity? {
        guard !isClosed.load(ordering: .acquiring) else { throw .badFileDescriptor }
        return FileIdentity(device: fileSystem.device, inode: UInt64(inode))
    }

    /// Closes the file even when it throws what a fault says, as close(2) does.
    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let owner = ObjectIdentifier(self)
        try fileSystem.state.withLock { state throws(Errno) in
            state.close(inode, owner)
            try state.enter(.close, path)
        }
    }
}

extension SimulatedFile {
    /// As on ext4 with 4 KiB blocks.
    private static let lengthMaximum: Int64 = 16 << 40

    private func perform<Result>(
        _ call: SimulatedFileSystem.Call,
        _ body: (inout SimulatedFileSystem.State, SimulatedFileSystem.Fault?) throws(Errno) -> sending Result
    ) throws(Errno) -> sending Result {
        guard !isClosed.load(ordering: .acquiring) else { throw .badFileDescriptor }
        return try fileSystem.state.withLock { state throws(Errno) in
            let fault = try state.enter(call, path)
            return try body(&state, fault)
        }
    }

    private func flush(_ call: SimulatedFileSystem.Call) throws(Errno) {
        guard !isClosed.load(ordering: .acquiring) else { throw .badFileDescriptor }
        try fileSystem.state.withLock { state throws(Errno) in
            if let fault = try state.enter(call, path, defersErrors: true), case .fail(let error) = fault.effect {
                state.record(call, path, .failedSync(inode: inode, fault.flushLoss), failed: error)
                throw error
            }
            state.record(call, path, .sync(inode: inode))
        }
    }
}

extension SimulatedFileSystem.State {
    /// What programs see in a file that is open.
    fileprivate func content(_ inode: Int) throws(Errno) -> SparseBytes {
        guard let file = disk.files[inode] else { throw .ioError }
        return file.volatile
    }
}
