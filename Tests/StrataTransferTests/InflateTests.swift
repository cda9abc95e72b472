import Testing

@testable import StrataTransfer

@Suite struct InflateTests {
    @Test func aStoredBlockIsCopied() throws {
        let bytes = Array("abc".utf8)
        #expect(try Inflate.decompress([1, 3, 0, 252, 255] + bytes) == bytes)
    }
}
