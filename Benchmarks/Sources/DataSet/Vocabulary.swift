/// What names and texts are made of.
enum Vocabulary {
    /// The word that the scans look for; one word in 1,024.
    static let needle = Array("delta".utf8)

    static let syllables: [[UInt8]] = """
        an bar cor den el fen gor hal in jor kan lor mer nil ost pra \
        qui ros sel tam ul ver wen xan yor zel ab bri cas dor em fri \
        gal hem is jul kor lin mon nor ol pel qua ril san tor un vil \
        wal xi yan zor ard bel cla dun eth far gri hol ira jan kel lum
        """.split(separator: " ").map { Array($0.utf8) }

    static let words: [[UInt8]] = (0..<256).map { index in
        let word = syllables[index % 64] + syllables[(index * 7 + 3 + index / 64) % 64]
        return index % 3 == 0 ? word + syllables[(index * 13 + 5) % 64] : word
    }
}
