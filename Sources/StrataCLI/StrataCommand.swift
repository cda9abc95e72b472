import ArgumentParser
import StrataIO

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
            A store is a directory. Everything only reads, also beside a program that has the store open; but `compact` \
            needs the store for itself, and `backup`, `verify --salvage` and \
            `import` write another one.

            Points of the past (--at, --after) are transaction numbers, or times such as 2026-05-01, \
            2026-05-01T12:00:00 (UTC) or 2026-05-01T12:00:00+02:00.

            Exit codes: 0 done; 1 the store or the request failed; 2 verify found damage; 3 there is no such object; \
            64 the command line is wrong.
            """,
        subcommands: [
            Info.self, Verify.self, Backup.self, Compact.self, History.self, Dump.self, Get.self, Query.self,
            Import.self, Export.self,
        ])

    static func main() async {
        // A program that is started with them closed must not print into what it opens next.
        StandardDescriptors.occupy()
        // A file that may not grow is an error, like a full disk, and no reason to be killed.
        signal(SIGXFSZ, SIG_IGN)
        await main(nil)
    }
}

/// How the command ends when it has not simply done its work.
enum ExitCodes {
    static let failure = ExitCode(1)
    static let damage = ExitCode(2)
    static let notFound = ExitCode(3)
}
