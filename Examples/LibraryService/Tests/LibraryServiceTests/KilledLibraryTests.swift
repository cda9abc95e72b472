import Foundation
import LibraryClients
import Testing

/// 64 clients change books of their own, leave in the middle of requests, and the program is killed again and again:
/// what was acknowledged is there afterwards. `SERVICE_SECONDS` says for how long; 15 unless it is set.
@Suite(.serialized) struct KilledLibraryTests {
    @Test func whatIsAcknowledgedStaysAcknowledged() async throws {
        let seconds = ProcessInfo.processInfo.environment["SERVICE_SECONDS"].flatMap { Double($0) } ?? 15
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let author = try connection.request("POST", "/authors", ["name": "Many"]).id
        let other = try connection.request(
            "POST", "/books", ["title": "other", "isbn": "9990000000000", "author": author]
        ).id
        var load = LibraryLoad(
            seconds: seconds,
            mix: [.create: 6, .rename: 5, .delete: 2, .find: 3, .read: 1, .page: 1, .statistics: 1, .leave: 1],
            authors: [author])
        load.killInterval = 2...4
        load.others = [other]
        let report = try await load.run(library)
        print(
            "library: \(report.acknowledged) writes acknowledged, \(report.checked) books checked, \(report.kills) kills"
        )
        #expect(report.problems.isEmpty)
        #expect(report.acknowledged > 64 && report.kills > 0)
        #expect(library.terminate() == 0)
    }
}
