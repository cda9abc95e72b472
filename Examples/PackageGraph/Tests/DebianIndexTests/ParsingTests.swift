import Testing

@testable import DebianIndex

@Suite("Reading stanzas")
struct ParsingTests {
    @Test("Every field that is kept arrives")
    func keepsFields() throws {
        let index = try readIndex(
            """
            Package: hello
            Source: hello-src
            Version: 2.10-3
            Installed-Size: 280
            Maintainer: Ann Example <ann@example.org>
            Architecture: amd64
            Essential: yes
            Description: example package
            Homepage: https://example.org/
            Section: devel
            Priority: optional
            Filename: pool/main/h/hello_2.10-3_amd64.deb
            Size: 53080
            """)
        let package = try #require(index.package("hello"))
        #expect(package.source == "hello-src")
        #expect(package.version == "2.10-3")
        #expect(package.installedSizeKiB == 280)
        #expect(package.architecture == "amd64")
        #expect(package.isEssential)
        #expect(package.summary == "example package")
        #expect(package.homepage == "https://example.org/")
        #expect(package.priority == "optional")
        #expect(package.fileName == "pool/main/h/hello_2.10-3_amd64.deb")
        #expect(package.downloadSizeBytes == 53080)
        #expect(package.maintainer.map { index.maintainers[$0] } == "Ann Example <ann@example.org>")
        #expect(package.section.map { index.sections[$0] } == "devel")
        #expect(!package.isVirtual)
    }

    @Test("Field names count in any case, carriage returns and blank lines of spaces do not")
    func toleratesForm() throws {
        let index = try readIndex("PACKAGE: a\r\nversion: 1\r\n\r\n \t\n\n\nPackage: b\nVersion: 2")
        #expect(index.packages.map(\.name) == ["a", "b"])
        #expect(index.packages.map(\.version) == ["1", "2"])
    }

    @Test("A folded field is one value, and of a description the first line counts")
    func unfoldsFields() throws {
        let index = try readIndex(
            "Package: a\nVersion: 1\nDepends: b,\n c (>= 2),\n\td\nDescription: first\n second\n\n")
        #expect(index.relations("a", .depends) == ["0.0 ?b", "1.0 ?c (>= 2)", "2.0 ?d"])
        #expect(index.package("a")?.summary == "first")
    }

    @Test("Maintainers and sections are shared")
    func sharesValues() throws {
        let stanzas = (0..<9_000).map { "Package: p\($0)\nVersion: 1\nMaintainer: M\($0 % 7)\nSection: s\($0 % 3)\n\n" }
        let index = try readIndex(stanzas.joined())
        #expect(index.packages.count == 9_000)
        #expect(index.maintainers == (0..<7).map { "M\($0)" })
        #expect(index.sections == ["s0", "s1", "s2"])
        #expect(index.packages[8_999].maintainer == 8_999 % 7)
        #expect(index.objectCount == 9_010)
    }

    @Test("Stanzas that cross the reader's pieces arrive whole")
    func crossesPieces() throws {
        // About 3 MiB in stanzas of uneven length, so that pieces of 1 MiB end inside fields, names and newlines.
        let stanzas = (0..<3_000).map {
            "Package: p\($0)\nVersion: \($0)\nDescription: \(String(repeating: "x", count: $0 % 2_003))\n\n"
        }
        let index = try readIndex(stanzas.joined())
        #expect(index.packages.count == 3_000)
        for (number, package) in index.packages.enumerated() {
            #expect(package.name == "p\(number)" && package.version == "\(number)")
            #expect((package.summary ?? "").utf8.count == number % 2_003)
        }
    }

    @Test("One stanza may be larger than a piece")
    func readsLongStanza() throws {
        let long = (0..<200_000).map { "dep\($0)" }.joined(separator: ", ")
        let index = try readIndex("Package: a\nVersion: 1\nDepends: \(long)\n")
        #expect(index.dependencies.count == 200_000)
        #expect(index.dependencies.last?.unresolvedName == "dep199999")
    }

    @Test(
        "What is wrong is named with its line",
        arguments: [
            ("root:x:0:0:root:/root:/bin/sh\n", 1, "no Package field"),
            ("Package: a\nVersion: 1\n\nnonsense here\n", 4, "not a \"Field: value\" line"),
            ("Package: a\nVersion: 1\n\nVersion: 2\n", 4, "no Package field"),
            ("\n\nPackage: a\nSection: x\n", 3, "no Version field"),
            ("Package: a\nVersion: 1\nInstalled-Size: many\n", 3, "Installed-Size is \"many\""),
            ("Package: a\nVersion: 1\nSize: -1\n", 3, "Size is \"-1\""),
            (" folded\nPackage: a\n", 1, "continues a field"),
            ("Package: a\nVersion: 1\nDepends: b (>= 1\n", 3, "closing parenthesis"),
            ("Package: a\nVersion: 1\nDepends: b (1)\n", 3, "no operator"),
            ("Package: a\nVersion: 1\nSection: x\nSuggests: b c\n", 4, "no comma or bar after \"b\""),
            ("Package: a\nVersion: 1\nDepends: | b\n", 3, "without a name"),
            ("Package: a\nVersion: 1\nDepends: (>= 1)\n", 3, "where a package name belongs"),
        ])
    func namesLine(text: String, line: Int, reason: String) throws {
        let failure = try #require(try readingFailure(text))
        #expect(failure.code == .malformed)
        #expect(failure.line == line)
        #expect(failure.reason.contains(reason), "\(failure.reason)")
        #expect(failure.description.hasSuffix("Packages:\(line): \(failure.reason)"))
    }

    @Test("A file without packages is an error")
    func refusesEmpty() throws {
        #expect(try readingFailure("")?.code == .empty)
        #expect(try readingFailure("\n\n\n")?.code == .empty)
    }

    @Test("Random bytes are an error, never a trap")
    func survivesNoise() throws {
        let folder = try TemporaryFolder()
        for seed in 0..<1_000 {
            let path = try folder.file("Packages", noise(seed: UInt64(seed)))
            do throws(IndexError) {
                let index = try PackageIndex.read([path])
                #expect(!index.packages.isEmpty, "seed \(seed)")
            } catch {
                #expect(error.path == path && error.code == .malformed, "seed \(seed)")
            }
        }
    }

    /// Mostly signs that mean something to the parser, after a good beginning.
    private func noise(seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        let alphabet = Array("Package: a,|()<>=\n \tDepends:Version".utf8)
        var bytes = Array("Package: a\nVersion: 1\nDepends: ".utf8)
        for _ in 0..<300 {
            let isAny = next() % 16 == 0
            let letter = Int(next() % UInt64(alphabet.count))
            bytes.append(isAny ? UInt8(truncatingIfNeeded: next()) : alphabet[letter])
        }
        return bytes
    }
}
