import Foundation
import Testing

/// `make check` against the tree: every folder of Sources has a row in the table of suites, and what rows name is
/// there.
@Suite struct CheckScriptTests {
    @Test func theTableNamesFoldersAndSuitesThatExist() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = root.appendingPathComponent("scripts/check.sh")
        process.arguments = ["-l"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text == "" && process.terminationStatus == 0)
    }
}
