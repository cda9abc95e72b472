import StrataIO
import StrataSupport
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Programs that start with standard descriptors closed. What they opened next got those numbers, and whatever printed
/// overwrote it: the log of a store, for one.
@Suite struct StandardDescriptorTests {
    @Test func noFileIsOnADescriptorThatProgramsPrintTo() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                let fileSystem = PosixFileSystem()
                let path = directory.appending("file")
                for number: Int32 in 0...2 { close(number) }
                let file = try fileSystem.open(path, .create)
                let held = try fileSystem.openDirectory(directory)
                let other = try held.open("other", .createIfMissing)
                _ = try held.list()
                let bytes: [UInt8] = [1, 2, 3]
                for file in [file, other] {
                    try bytes.withUnsafeBytes { try file.writeAll([$0], at: 0) }
                }
                // Printing fails as before, and lands nowhere.
                for number: Int32 in 1...2 { if write(number, "text", 4) >= 0 { exit(1) } }
                StandardDescriptors.writeError("a message\n")
                for name in ["file", "other"] {
                    let file = try fileSystem.open(directory.appending(name), .read)
                    guard try file.byteCount() == 3 else { exit(2) }
                }
            }
            exit(0)
        }
    }

    @Test func descriptorsThatAreClosedLaterAreLeftAloneAsWell() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                let fileSystem = PosixFileSystem()
                let first = try fileSystem.open(directory.appending("first"), .create)
                close(1)
                let second = try fileSystem.open(directory.appending("second"), .create)
                if write(1, "text", 4) >= 0 { exit(1) }
                guard try first.byteCount() == 0, try second.byteCount() == 0 else { exit(2) }
            }
            exit(0)
        }
    }
}
