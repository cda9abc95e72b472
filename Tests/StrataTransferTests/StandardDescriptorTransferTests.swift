import CoreData
import Foundation
import Synchronization
import Testing

@testable import StrataTransfer

/// Imports and exports by a program that was started with its standard descriptors closed. A file that was opened there
/// was read from by whoever reads the standard input, and overwritten by whatever prints.
@Suite struct StandardDescriptorTransferTests {
    /// Reads from and writes to the standard descriptors until it is told to stop, as other parts of a program may.
    fileprivate final class Chatter: Sendable {
        private let isOver = Atomic(false)
        private let end = DispatchSemaphore(value: 0)

        init() {
            Thread { [self] in
                var byte: UInt8 = 0x21
                while !isOver.load(ordering: .acquiring) {
                    usleep(20)
                    for number: Int32 in 0...2 {
                        _ = write(number, &byte, 1)
                        var found: UInt8 = 0
                        _ = read(number, &found, 1)
                    }
                }
                end.signal()
            }.start()
        }

        func stop() {
            isOver.store(true, ordering: .releasing)
            end.wait()
        }
    }

    /// Everything that goes in and out, and what came in.
    ///
    /// - Parameter prepare: called before each step.
    fileprivate static func transfer(
        _ store: URL, in scratch: Scratch, _ name: String, prepare: () -> Void
    ) throws -> [[String]] {
        func url(_ end: String) -> URL { scratch.url("\(name)-\(end)") }
        prepare()
        _ = try TextTransfer().writeJSONLines(store, to: url("all.jsonl").path)
        prepare()
        _ = try TextTransfer().readJSONLines(url("all.jsonl").path, to: url("lines"))
        prepare()
        _ = try TextTransfer().writeCSV(store, to: url("csv").path)
        prepare()
        _ = try TextTransfer().readCSV(url("csv").path, to: url("tables"))
        prepare()
        _ = try CoreDataExporter(store).run(to: url("all.sqlite"), history: true)
        prepare()
        _ = try CoreDataImporter(url("all.sqlite")).run(to: url("rows"), model: Company.model())
        return try ["lines", "tables", "rows"].map { try StoreContents.of(url($0)) }
    }

    @Test func importsAndExportsLeaveDescriptorsThatProgramsPrintToAlone() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let store = scratch.url("store")
            try Company.makeStore(store)
            let wanted = try StandardDescriptorTransferTests.transfer(store, in: scratch, "open") {}
            guard wanted.allSatisfy({ !$0.isEmpty }) else { exit(1) }
            for number: Int32 in 0...2 { close(number) }
            let chatter = Chatter()
            let found = Result {
                try StandardDescriptorTransferTests.transfer(store, in: scratch, "closed") {
                    for number: Int32 in 0...2 { close(number) }
                }
            }
            chatter.stop()
            guard case .success(wanted) = found else { exit(2) }
            exit(0)
        }
    }
}
