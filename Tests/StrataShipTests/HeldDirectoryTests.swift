import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataShip

/// A directory that was moved away while it is in use, with another one in its place: nothing is done to that.
@Suite struct HeldDirectoryTests {
    private static func contents(_ path: FilePath, _ disk: any FileSystem) throws -> [String] {
        try disk.list(path).map { name in
            let file = try disk.open(path.appending(name), .read)
            return "\(name) \(try file.byteCount())"
        }
    }

    /// Has a directory of other files take a directory's place, and says what is in it.
    private static func replace(_ path: FilePath, _ disk: any FileSystem, names: [String]) throws -> [String] {
        try disk.rename(path, to: "/moved")
        try disk.createDirectory(path)
        for name in names { _ = try disk.open(path.appending(name), .create) }
        return try contents(path, disk)
    }

    @Test func aFollowersCacheGoesOnInItsDirectory() throws {
        let disk = SimulatedFileSystem()
        func key(_ chunk: UInt32) -> ChunkCache.Key {
            ChunkCache.Key(kind: .segment, log: 7, epoch: 1, number: 1, chunk: chunk)
        }
        let cache = try ChunkCache("/cache", in: disk, budgetBytes: 3_000)
        cache.keep(key(0), [UInt8](repeating: 1, count: 1_000), isWhole: true)
        let others = try Self.replace("/cache", disk, names: [key(0).fileName, key(1).fileName, "catalog"])
        // More than there is room for: some go, and in the end all of them.
        for chunk in 1...4 as ClosedRange<UInt32> {
            cache.keep(key(chunk), [UInt8](repeating: 2, count: 1_000), isWhole: true)
        }
        #expect(try Self.contents("/cache", disk) == others)
        #expect(try disk.list("/moved").count == 2)
        cache.clear()
        #expect(try Self.contents("/cache", disk) == others)
        #expect(try disk.list("/moved").isEmpty)
    }

    @Test func aRestoreGoesOnInItsDirectory() throws {
        let disk = SimulatedFileSystem()
        try disk.createDirectory("/store")
        let files = RestoredFiles(directory: try disk.openDirectory("/store"), path: "/store")
        try files.write([1, 2, 3], "00000001.seg")
        let others = try Self.replace("/store", disk, names: ["00000001.seg", "00000002.seg"])
        try files.write([1, 2], "00000002.seg")
        try files.remove("00000001.seg")
        #expect(try Self.contents("/store", disk) == others)
        #expect(try Self.contents("/moved", disk) == ["00000002.seg 2"])
        let error = #expect(throws: ShipError.self) { try files.remove("00000003.seg") }
        #expect(error?.code == .local && "\(error as Any)".contains("/store/00000003.seg"))
    }
}
