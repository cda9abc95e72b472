import Foundation
import LibraryClients
import Synchronization

// Measures the library under load: 64 clients, a library of BOOKS books, RATE requests a second (0 for as many as are
// answered), a kill about every ten seconds. Prints how long answers took.
//
//     make bench-library ARGS="SECONDS BOOKS RATE"

let numbers = CommandLine.arguments.dropFirst().map { Double($0) }
guard numbers.count <= 3, !numbers.contains(where: { $0.map { $0 < 0 } ?? true }) else {
    FileHandle.standardError.write(Data("usage: LibraryLoad [SECONDS [BOOKS [RATE]]]\n".utf8))
    exit(64)
}
func number(_ index: Int, _ normal: Double) -> Double { numbers.count > index ? numbers[index]! : normal }
let seconds = number(0, 60)
let books = Int(number(1, 41_000))
let rate = number(2, 500)

let library = try RunningLibrary()

/// Posts on 16 connections.
///
/// - Returns: the IDs.
func post(_ path: String, _ count: Int, _ body: @escaping @Sendable (Int) -> [String: Any]) throws -> [String] {
    let ids = Mutex([String](repeating: "", count: count))
    let failure = Mutex<String?>(nil)
    let port = library.port
    DispatchQueue.concurrentPerform(iterations: 16) { worker in
        do {
            let connection = try Connection(port)
            for index in stride(from: worker, to: count, by: 16) {
                let answer = try connection.request("POST", path, body(index))
                guard answer.status == 201 else {
                    failure.withLock { $0 = "\(path): \(answer.status) \(answer.text)" }
                    return
                }
                ids.withLock { $0[index] = answer.id }
            }
        } catch {
            failure.withLock { $0 = "\(path): \(error)" }
        }
    }
    if let failure = failure.withLock({ $0 }) { throw CocoaError(.featureUnsupported, userInfo: ["": failure]) }
    return ids.withLock { $0 }
}

let authors = try post("/authors", 500) { ["name": "author \($0)"] }
let others = try post("/books", books) { index in
    let text = "\(index)"
    return [
        "title": "book \(index)", "isbn": "999" + String(repeating: "0", count: 10 - text.count) + text,
        "year": 1900 + index % 100, "author": authors[index % authors.count],
    ]
}
let members = try post("/members", 100) { ["name": "member \($0)", "email": "\($0)@x"] }
_ = try post("/loans", books / 4) { ["book": others[$0], "member": members[$0 % members.count]] }

var load = LibraryLoad(
    seconds: seconds,
    // Three in a hundred are statistics.
    mix: [.read: 60, .find: 10, .page: 10, .statistics: 3, .create: 5, .rename: 8, .delete: 3, .leave: 1],
    authors: authors)
load.rate = rate > 0 ? rate : nil
load.killInterval = 8...12
load.others = others
let report = try await load.run(library)
let status = library.terminate()

let answers = report.latencies.reduce(0) { $0 + $1.value.count }
print(
    "\(answers) answers in \(Int(seconds)) s, \(report.unanswered) requests without one, \(report.kills) kills, \(report.refused) refused; "
        + "\(report.acknowledged) writes acknowledged, \(report.checked) books checked, \(report.problems.count) wrong")
for problem in report.problems.prefix(20) { print("wrong: \(problem)") }
func milliseconds(_ seconds: Double) -> String { String(format: "%8.2f", seconds * 1_000) }
print("what         requests     50 %     99 %   99.9 %     most  (ms)")
for action in LibraryClient.Action.allCases {
    guard let times = report.latencies[action]?.sorted(), !times.isEmpty else { continue }
    func part(_ share: Double) -> String { milliseconds(times[min(times.count - 1, Int(Double(times.count) * share))]) }
    let name = action.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
    print("\(name) \(String(format: "%10d", times.count)) \(part(0.5)) \(part(0.99)) \(part(0.999)) \(part(1))")
}
exit(report.problems.isEmpty && status == 0 ? 0 : 1)
