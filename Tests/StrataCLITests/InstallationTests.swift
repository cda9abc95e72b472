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
