import StrataIO
import SystemPackage
import Testing

@Suite struct MemoryFileSystemTests {
    @Test func eachInstanceIsATreeOfItsOwn() throws {
        let (first, second) = (MemoryFileSystem(), MemoryFileSystem())
        _ = try first.open("/a", .create)
        #expect(try second.list("/") == [])
        #expect(try first.attributes("/")?.device != second.attributes("/")?.device)
    }

    @Test func reservedSpaceCostsNothingAndMapsInPlace() throws {
        let fs = MemoryFileSystem()
        let file = try fs.open("/a", .create)
        try file.preallocate(from: 0, byteCount: 1 << 30)
        let region = try file.map(from: 4096, byteCount: 1 << 20)
        #expect(region.bytes[0] == 0)
        try file.write("seen", at: 4096)
        #expect(Array(region.bytes[..<4]) == Array("seen".utf8))
    }

    @Test func lengthsBeyondMemoryCostNothing() throws {
        let fs = MemoryFileSystem()
        let file = try fs.open("/a", .create)
        try file.preallocate(from: 0, byteCount: .max)
        try file.truncate(to: .max)
        #expect(try file.bytes(3, at: .max - 3) == [0, 0, 0])
        try file.write("far", at: 1 << 50)
        #expect(try file.text(3, at: 1 << 50) == "far")
        #expect(throws: Errno.fileTooLarge) { try file.write("x", at: .max) }
        #expect(throws: Errno.fileTooLarge) { try file.preallocate(from: 1, byteCount: .max) }
    }
}
