import ArgumentParser
import StrataSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The command `strata`.
@main
struct StrataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata",
        abstract: "Look into a Strata store.",
        discussion: """
            A store is a directory. Everything only reads, also beside a program that has the store open; but \
            `compact` writes it, or asks who has it open for writing, and `backup`, `restore`, `verify --salvage` and `import` write \
            another one. `bench` makes one of its own and removes it. `ship` and `backup --to` keep a file \
            STORE.strata-ship-… for each bucket beside the store.

            Points of the past (--at, --after) are transaction numbers, or times such as 2026-05-01, \
            2026-05-01T12:00:00 (UTC) or 2026-05-01T12:00:00+02:00.

            Exit codes: 0 done; 1 the store, the request or the output failed, or doctor found a problem; 2 verify \
            found damage; 3 there is no such object; 64 the command line is wrong.

            STRATA_PROGRESS_SECONDS is for how long work goes on before progress is shown, 1 if it is not set. \
            NO_COLOR turns colours off.
            """,
        version: "strata (unreleased), reads and writes store formats 1 and 2",
        subcommands: [
            Info.self, Schema.self, Stats.self, Verify.self, Backup.self, Ship.self, Restore.self, Compact.self,
            History.self, Diff.self,
            Dump.self, Get.self,
            Query.self, Inspect.self, Import.self, Export.self, Doctor.self, Bench.self, Shell.self,
        ])

    static func main() async {
        // A program that is started with them closed must not print into what it opens next.
        StandardDescriptors.occupy()
        // A file that may not grow is an error then, as a full disk is, and not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .success else { exit(withError: error) }
            // Help that was asked for is a result like others.
            let text = fullMessage(for: error)
            if !text.isEmpty { Terminal.output.write(text + "\n") }
            Terminal.output.flush()
        }
    }
}

/// How the command ends when it has not simply done its work.
enum ExitCodes {
    static let failure = ExitCode(1)
    static let damage = ExitCode(2)
    static let notFound = ExitCode(3)
}
