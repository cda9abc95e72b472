import StrataSupport
import Testing

@Suite struct FNVTests {
    /// Names of files and cursors of pages are made of them: other numbers would lose what earlier versions wrote.
    @Test func knownAnswers() {
        let known: [(String, UInt64)] = [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8),
        ]
        for (text, digest) in known { #expect(FNV.digest(text.utf8) == digest, "\(text)") }
    }
}
