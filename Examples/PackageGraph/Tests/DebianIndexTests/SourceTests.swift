import CLZ4Frame
import Foundation
import Testing

@testable import DebianIndex

@Suite("Files")
struct SourceTests {
    /// LZ4 frames, as the lz4 command writes them.
    private func compress(_ text: String) -> [UInt8] {
        let source = Array(text.utf8)
        var frame = [UInt8](repeating: 0, count: LZ4F_compressFrameBound(source.count, nil))
        let count = LZ4F_compressFrame(&frame, frame.count, source, source.count, nil)
        return Array(frame.prefix(count))
    }

    private let text = (0..<20_000).map { "Package: p\($0)\nVersion: \($0)\nDepends: p\($0 / 2)\n\n" }.joined()

    @Test("Plain and LZ4 files give the same")
    func readsLZ4() throws {
        let folder = try TemporaryFolder()
        let plain = try PackageIndex.read([folder.file("plain", text)])
        let frame = compress(text)
        let packed = try PackageIndex.read([folder.file("packed", frame)])
        #expect(packed.packages == plain.packages)
        #expect(packed.dependencies == plain.dependencies)
        #expect(packed.statistics.rawByteCount == text.utf8.count)
        #expect(packed.statistics.storedByteCount == frame.count)
    }

    @Test("Frames may follow one another")
    func readsSeveralFrames() throws {
        let folder = try TemporaryFolder()
        let frames = compress("Package: a\nVer") + compress("sion: 1\n\n") + compress("Package: b\nVersion: 2\n")
        let index = try PackageIndex.read([folder.file("packed", frames)])
        #expect(index.packages.map(\.name) == ["a", "b"])
    }

    @Test("A frame that is cut off or damaged is an error, wherever it happens")
    func refusesDamage() throws {
        let folder = try TemporaryFolder()
        let frame = compress(String(text.prefix(3_000)))
        for length in 4..<frame.count {
            let path = try folder.file("cut", Array(frame.prefix(length)))
            #expect(throws: IndexError.self) { try PackageIndex.read([path]) }
        }
        var damaged = frame
        damaged[4] ^= 0xff
        let path = try folder.file("damaged", damaged)
        do throws(IndexError) {
            _ = try PackageIndex.read([path])
            Issue.record("a damaged header was read")
        } catch {
            #expect(error.code == .compression)
            #expect(error.reason.contains("LZ4"))
        }
    }

    @Test(
        "Other compressions are named",
        arguments: [
            ([0x1f, 0x8b, 8, 0] as [UInt8], "gzip"), ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "xz"),
            ([0x28, 0xb5, 0x2f, 0xfd], "zstd"), ([0x42, 0x5a, 0x68, 0x39], "bzip2"),
        ])
    func namesCompression(bytes: [UInt8], name: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("file", bytes)
        do throws(IndexError) {
            _ = try PackageIndex.read([path])
            Issue.record("\(name) was read")
        } catch {
            #expect(error.code == .compression && error.reason.contains(name))
        }
    }

    @Test("A missing file and a folder are errors")
    func refusesUnreadable() throws {
        let folder = try TemporaryFolder()
        for path in [folder.url.appending(path: "none").path, folder.url.path] {
            do throws(IndexError) {
                _ = try PackageIndex.read([path])
                Issue.record("\(path) was read")
            } catch {
                #expect(error.code == .unreadable && error.path == path)
            }
        }
    }

    @Test("apt's lists come first, then dpkg's status, then the sample")
    func discovers() throws {
        let folder = try TemporaryFolder()
        #expect(IndexSource.discover(root: folder.url.path) == IndexSource.sample)
        let status = try folder.file("var/lib/dpkg/status", "Package: a\nStatus: install ok installed\nVersion: 1\n")
        #expect(IndexSource.discover(root: folder.url.path).paths == [status])
        _ = try folder.file("var/lib/apt/lists/x_InRelease", "no index")
        _ = try folder.file("var/lib/apt/lists/empty_Packages", "")
        _ = try folder.file("var/lib/apt/lists/other_Packages.xz", "no index")
        #expect(IndexSource.discover(root: folder.url.path).paths == [status])
        let one = try folder.file("var/lib/apt/lists/a_Packages", "Package: a\nVersion: 1\n")
        let other = try folder.file("var/lib/apt/lists/b_Packages.lz4", compress("Package: b\nVersion: 1\n"))
        let source = IndexSource.discover(root: folder.url.path)
        #expect(source.paths == [one, other])
        #expect(try PackageIndex.read(source.paths).packages.map(\.name) == ["a", "b"])
    }

    @Test("The sample is a real index")
    func readsSample() throws {
        let index = try PackageIndex.read(IndexSource.sample.paths)
        #expect(index.statistics.stanzaCount > 150)
        #expect(index.package("build-essential") != nil)
        #expect(index.relations("build-essential", .depends).contains { $0.contains("gcc") })
    }
}
