import Foundation
import Testing

/// What a block of a pool may hand out, asked of the compiler.
@Suite struct PoolResultTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func program(_ type: String, _ expression: String) -> String {
        """
        import Strata
        import StrataService
        func run(_ pool: StrataContextPool, _ request: sending NSFetchRequest<NSManagedObject>) async throws {
            nonisolated(unsafe) let request = request
            let result: \(type) = try await pool.withContext(.reading) { (context: NSManagedObjectContext) -> \(type) in
                \(expression)
            }
            print(result)
        }
        """
    }

    /// What the compiler says against a program; empty if it compiles.
    private static func errors(_ program: String) throws -> String {
        // Beside the test's own executable lie the modules that it was built with.
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var products = URL(fileURLWithPath: executable).deletingLastPathComponent()
        while products.path != "/", !FileManager.default.fileExists(atPath: products.path + "/Modules") {
            products.deleteLastPathComponent()
        }
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pool-\(UUID().uuidString).swift")
        try Data(program.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I", products.appendingPathComponent("Modules").path,
        ]
        var maps = [
            products.path + "/CStrataSupport.build/module.modulemap", root.path + "/Sources/CLZ4/module.modulemap",
        ]
        var folders = [root.path + "/Sources/CStrataSupport/include"]
        let checkouts = scratch.appendingPathComponent("checkouts")
        let files = FileManager.default.enumerator(at: checkouts, includingPropertiesForKeys: nil)
        for case let url as URL in files?.allObjects ?? [] where url.path.contains("/Sources/") {
            if url.lastPathComponent == "module.modulemap" { maps.append(url.path) }
            if url.lastPathComponent == "include" { folders.append(url.path) }
        }
        for map in maps { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
        for folder in folders { arguments += ["-Xcc", "-I\(folder)"] }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments + [file.path]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? "" : text
    }

    @Test func valuesMayBeHandedOut() throws {
        #expect(
            try Self.errors(Self.program("[NSManagedObjectID]", "try context.fetch(request).map(\\.objectID)")) == "")
    }

    @Test(arguments: ["NSManagedObject?", "[NSManagedObject]", "(Int, NSManagedObject?)"])
    func objectsMayNot(_ type: String) throws {
        let found = "try context.fetch(request)"
        let expression =
            switch type {
            case "NSManagedObject?": "\(found).first"
            case "[NSManagedObject]": found
            default: "(1, \(found).first)"
            }
        let errors = try Self.errors(Self.program(type, expression))
        #expect(errors.contains("does not conform to the 'Sendable' protocol"), "\(errors)")
    }
}
