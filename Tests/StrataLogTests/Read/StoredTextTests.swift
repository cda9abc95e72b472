import Testing

@testable import StrataLog

@Suite struct StoredTextTests {
    /// What the standard library makes of the bytes.
    private func expectSame(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
        let text = bytes.withUnsafeBytes { StoredText.string($0) }
        #expect(text == String(decoding: bytes, as: UTF8.self), "\(bytes)", sourceLocation: location)
        #expect(Array(text.utf8) == Array(String(decoding: bytes, as: UTF8.self).utf8), sourceLocation: location)
    }

    @Test func textOfEveryLengthIsRead() {
        for length in 0...100 {
            expectSame((0..<length).map { UInt8($0 % 95) + 32 })
            // Every ASCII byte is text, zero too.
            expectSame((0..<length).map { UInt8($0 & 127) })
        }
    }

    @Test func oneByteBeyondASCIIIsFoundWhereverItStands() {
        for length in 1...80 {
            for position in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                // Alone it is ill-formed and repaired; with a second one it is a letter.
                bytes[position] = 0xC3
                expectSame(bytes)
                if position + 1 < length {
                    bytes[position + 1] = 0xA9
                    expectSame(bytes)
                }
            }
        }
    }

    @Test func bytesAtAnyAddressAreRead() {
        let bytes = [UInt8]("The quick brown fox jumps over the lazy dog. ÄÖÜ".utf8)
        bytes.withUnsafeBytes { whole in
            for start in 0..<16 {
                for end in start...whole.count {
                    let part = UnsafeRawBufferPointer(rebasing: whole[start..<end])
                    #expect(StoredText.string(part) == String(decoding: part, as: UTF8.self))
                }
            }
        }
    }

    @Test func noBytesAreTheEmptyString() {
        #expect(StoredText.string(UnsafeRawBufferPointer(start: nil, count: 0)).isEmpty)
    }
}
