import Foundation
import Testing

/// What `make install` puts where, and what shells make of it.
@Suite(.serialized) struct InstallationTests {
    /// The root of the package.
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func bash(_ script: String, _ arguments: [String], in directory: URL) throws -> CommandResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["--norc", "--noprofile", "-c", script, "bash"] + arguments
        let output = directory.appendingPathComponent("output-\(UUID().uuidString)")
        let messages = directory.appendingPathComponent("messages-\(UUID().uuidString)")
        for url in [output, messages] { _ = FileManager.default.createFile(atPath: url.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: messages)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return CommandResult(
            code: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            messages: try String(contentsOf: messages, encoding: .utf8))
    }

    private func install(_ fixture: CommandFixture) throws -> URL {
        let manual = fixture.directory.appendingPathComponent("manual")
        try FileManager.default.createDirectory(at: manual, withIntermediateDirectories: true)
        for name in ["strata.1", "strata.query.1"] {
            try Data(".Dd\n".utf8).write(to: manual.appendingPathComponent(name))
        }
        let result = try bash(
            "umask 077; DESTDIR=\"$1/root\" \"$2\" \"$3\" \"$1/manual\" /opt/it",
            [
                fixture.directory.path, Self.root.appendingPathComponent("scripts/install.sh").path,
                CommandFixture.command.path,
            ], in: fixture.directory)
        #expect(result.code == 0 && result.messages.isEmpty, "\(result)")
        return fixture.directory.appendingPathComponent("root/opt/it")
    }

    @Test func everythingLiesWhereSystemsLookForIt() throws {
        let fixture = try CommandFixture()
        let root = try install(fixture)
        let files = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
            .filter {
                !((try? root.appendingPathComponent($0).resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory
                    ?? false)
            }
        #expect(
            files.sorted() == [
                "bin/strata", "share/bash-completion/completions/strata", "share/fish/vendor_completions.d/strata.fish",
                "share/man/man1/strata-query.1", "share/man/man1/strata.1", "share/zsh/site-functions/_strata",
            ])
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: root.appendingPathComponent(file).path)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
            #expect(mode == (file == "bin/strata" ? 0o755 : 0o644), "\(file)")
        }
        // Again, over what is there.
        _ = try install(fixture)
        let wrong = try bash("\"$1\" only", [Self.root.appendingPathComponent("scripts/install.sh").path], in: root)
        #expect(wrong.code == 64)
    }

    /// Of some program that needs no more than the system has; the command of the tests needs Swift's libraries.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/dpkg-shlibdeps")))
    func aPackageHasWhatIsInstalled() throws {
        let fixture = try CommandFixture()
        _ = try install(fixture)
        let script = Self.root.appendingPathComponent("scripts/deb.sh").path
        let make = "umask 077; SOURCE_DATE_EPOCH=$4 \"$1\" /bin/true \"$2/manual\" \"$2/$3\" 1.2.3"
        func package(_ folder: String, _ time: String) throws -> String {
            let made = try bash(make, [script, fixture.directory.path, folder, time], in: fixture.directory)
            try #require(made.code == 0 && made.lines.count == 1, "\(made)")
            return made.lines[0]
        }
        let first = try package("first", "1700000000")
        let fields = try bash("dpkg-deb -f \"$1\" Package Version Depends", [first], in: fixture.directory)
        #expect(fields.output.hasPrefix("Package: strata\nVersion: 1.2.3\nDepends: libc6 "), "\(fields)")
        let content = try bash(
            "dpkg-deb -c \"$1\" | awk '$1 !~ /^d/ { print $1, $2, $6 }'", [first], in: fixture.directory)
        #expect(
            content.lines.sorted() == [
                "-rw-r--r-- root/root ./usr/share/bash-completion/completions/strata",
                "-rw-r--r-- root/root ./usr/share/doc/strata/changelog.gz",
                "-rw-r--r-- root/root ./usr/share/doc/strata/copyright",
                "-rw-r--r-- root/root ./usr/share/fish/vendor_completions.d/strata.fish",
                "-rw-r--r-- root/root ./usr/share/man/man1/strata-query.1.gz",
                "-rw-r--r-- root/root ./usr/share/man/man1/strata.1.gz",
                "-rw-r--r-- root/root ./usr/share/zsh/vendor-completions/_strata",
                "-rwxr-xr-x root/root ./usr/bin/strata",
            ])
        let unpacked = try bash(
            "dpkg-deb -R \"$1\" \"$2\" && cd \"$2\" && md5sum -c DEBIAN/md5sums && usr/bin/strata",
            [first, fixture.directory.appendingPathComponent("tree").path], in: fixture.directory)
        #expect(unpacked.code == 0, "\(unpacked)")
        let second = try package("second", "1700000000")
        let other = try package("third", "1700000001")
        #expect(try Data(contentsOf: URL(fileURLWithPath: first)) == Data(contentsOf: URL(fileURLWithPath: second)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: first)) != Data(contentsOf: URL(fileURLWithPath: other)))
        // What no package of the system brings is an error.
        let lacking = try bash(
            make.replacingOccurrences(of: "/bin/true", with: "\"$5\""),
            [script, fixture.directory.path, "fourth", "1700000000", CommandFixture.command.path], in: fixture.directory
        )
        #expect(lacking.code == 1 && lacking.messages.contains("--static-swift-stdlib"), "\(lacking)")
    }

    /// The words before the cursor, and what completes the last of them.
    @Test(arguments: [
        (["que"], "query"), (["schema", "STORE", "Te"], "Team"), (["query", "STORE", "Person", "--sort", "ag"], "age"),
        (["query", "STORE", "--group-by", "age,acti"], "age,active"), (["query", "--format", "nd"], "ndjson"),
    ]) func bashCompletes(_ words: [String], _ expected: String) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let root = try install(fixture)
        let script = """
            PATH="$1/bin:$PATH"; shift
            source "$1"; shift
            COMP_WORDS=(strata "$@"); COMP_CWORD=$#; COMP_LINE="strata $*"; COMP_POINT=${#COMP_LINE}
            function=$(complete -p strata | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            "$function" strata "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try bash(
            script,
            [root.path, root.appendingPathComponent("share/bash-completion/completions/strata").path]
                + words.map { $0 == "STORE" ? fixture.store.path : $0 },
            in: fixture.directory)
        let found = result.lines.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(found.contains(expected), "\(result)")
    }

    @Test func theVersionIsPrinted() throws {
        let fixture = try CommandFixture()
        let output = fixture.directory.appendingPathComponent("version")
        let process = try CommandFixture.start(
            ["--version"], output: output, messages: fixture.directory.appendingPathComponent("messages"))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try String(contentsOf: output, encoding: .utf8).hasPrefix("strata "))
    }
}
