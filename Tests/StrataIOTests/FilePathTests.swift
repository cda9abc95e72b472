import SystemPackage
import Testing

@testable import StrataIO

@Suite("Paths")
struct FilePathTests {
    @Test(
        "the directory above is what is left without the last component",
        arguments: ["/", "/a", "/a/b", "a", "a/b", "", ".", "..", "/a/b/", "//a//b//", "a/", "/a/..", "/ü/é", "./a"])
    func directoryAbove(_ text: String) {
        let path = FilePath(text)
        let above = path.removingLastComponent()
        #expect(path.directoryAbove == (above.isEmpty ? "." : above))
    }

    @Test(
        "a path has the extension that its last component ends in",
        arguments: [
            "/", "", "/a/b.copy", "a.copy", ".copy", "/a/.copy", "..copy", "/a/..copy", "/a.copy/b", "/a.copy/",
            "acopy",
            "/a/copy", "a.copy.old", "a.Copy", "ü.copy", "copy", "/a/b.xcopy", ".", "..",
        ])
    func hasExtension(_ text: String) {
        let path = FilePath(text)
        #expect(path.hasExtension("copy") == (path.extension == "copy"))
    }

    @Test("bytes that are no characters stay as they are")
    func invalidNames() {
        let bytes: [CChar] = [47, -1, 98, 47, -2, 47, 99, 0]
        let path = bytes.withUnsafeBufferPointer { FilePath(platformString: $0.baseAddress!) }
        #expect(path.directoryAbove == path.removingLastComponent())
    }
}
