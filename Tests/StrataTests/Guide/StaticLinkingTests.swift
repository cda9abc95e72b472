import Foundation
import Testing

/// A program that is linked statically has of Foundation only that to which something refers. `BridgedTypes` refers to
/// what property lists and archives need.
@Suite struct StaticLinkingTests {
    private static let isSupported: Bool = {
        guard let result = try? run(["swiftc", "-print-target-info", "-static-stdlib"]), result.code == 0 else {
            return false
        }
        let names = result.output.components(separatedBy: "\"").filter { $0.hasSuffix("/swift_static") }
        return names.contains { FileManager.default.fileExists(atPath: $0 + "/linux/libFoundation.a") }
    }()

    /// The program writes archives and property lists of the same lengths however it is linked.
    @Test(.enabled(if: isSupported, "the toolchain has no static libraries"))
    func propertyListsAndArchivesAreWritten() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let main = directory.appendingPathComponent("main.swift").path
        try Data(Self.program.utf8).write(to: URL(fileURLWithPath: main))
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/StrataRuntime/BridgedTypes.swift").standardizedFileURL.path
        func output(_ options: [String]) throws -> String {
            let program = directory.appendingPathComponent("program").path
            let build = try run(["swiftc", "-package-name", "it", main, source, "-o", program] + options)
            try #require(build.code == 0, "\(build.output)")
            let result = try run([program])
            #expect(result.code == 0, "\(result.output)")
            return result.output
        }
        let shared = try output([])
        #expect(shared.hasSuffix("true\ntrue\n"), "\(shared)")
        for options in [["-Onone"], ["-O", "-wmo"]] {
            #expect(try output(options + ["-static-stdlib"]) == shared, "\(options)")
        }
    }

    private static let program = #"""
        import Foundation

        let value: [Any] = ["a", 1, 0.5, true, Date(timeIntervalSince1970: 0), Data([1, 2, 3]), ["b": [UUID().uuidString]]]
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            print(try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0).count)
        }
        let archived: [Any] = value + [Set(["c"]), URL(string: "http://d")!, UUID(), IndexPath(index: 1)]
        let archive = try NSKeyedArchiver.archivedData(withRootObject: archived, requiringSecureCoding: true)
        print(archive.count)
        let list = try PropertyListSerialization.propertyList(from: archive, format: nil) as? [String: Any]
        print((list?["$objects"] as? [Any])?.count as Any)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [
                NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSDictionary.self, NSSet.self,
                NSURL.self, NSUUID.self, NSIndexPath.self,
            ], from: archive)
        print((read as? [Any])?.count == archived.count)
        // The program would lose what nothing refers to.
        print(BridgedTypes.check() == nil)
        """#
}

private struct Ended {
    var code: Int32
    /// What was written to either stream.
    var output: String
}

private func run(_ arguments: [String]) throws -> Ended {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Ended(code: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
}
