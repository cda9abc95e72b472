import Foundation

// Times generated requests beside SQLite and prints those in which Strata is slower, and the slowest of the others.
//
//   strata-shapes [ROWS] [REQUESTS] [SEED] [TEXT] [TIMES]
//
// With TEXT only the requests whose description has it, of all of the seed's; each three hundred times, or TIMES, for a
// profile.

func milliseconds(_ body: () throws -> Int) rethrows -> (median: Double, result: Int) {
    var times: [Double] = []
    var result = 0
    var spent = 0.0
    // Slow ones are not run as often: what takes that long does not depend on a run's luck.
    while times.count < 5, times.isEmpty || spent < 1_000 {
        let start = ContinuousClock.now
        result = try body()
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        times.append(time)
        spent += time
    }
    times.sort()
    return (times[times.count / 2], result)
}

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
let rowCount = arguments.first ?? 100_000
let shapeCount = arguments.count > 1 ? arguments[1] : 300
let seed = arguments.count > 2 ? UInt64(arguments[2]) : 1
let wanted = CommandLine.arguments.count > 4 ? CommandLine.arguments[4] : nil
let repetitions = wanted == nil ? 1 : arguments.count > 4 ? arguments[4] : 300

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-shapes-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let rows = ShopRows(count: rowCount)
let peer = try SQLiteShop(rows, in: folder)
let store = try ShopStore(rows, in: folder)

struct Line {
    let text: String
    let strata: Double
    let sqlite: Double

    var ratio: Double { sqlite / strata }
}

var generator = ShapeGenerator(seed: seed)
var lines: [Line] = []
var differences = 0
for _ in 0..<shapeCount {
    let shape = generator.shape()
    if let wanted, !shape.text.contains(wanted) { continue }
    let (ours, theirs): ((median: Double, result: Int), (median: Double, result: Int))
    do {
        for _ in 0..<repetitions { _ = try store.run(shape) }
        ours = try milliseconds { try store.run(shape) }
        _ = try peer.run(shape)
        theirs = try milliseconds { try peer.run(shape) }
    } catch {
        differences += 1
        print("ERROR \(shape.text): \(error)")
        continue
    }
    if ours.result != theirs.result {
        differences += 1
        print("DIFFERENCE \(shape.text): \(ours.result), SQLite \(theirs.result)")
    }
    lines.append(Line(text: shape.text, strata: ours.median, sqlite: theirs.median))
}

lines.sort { $0.ratio < $1.ratio }
print("Strata ms  SQLite ms  ratio")
for line in lines.prefix(max(20, lines.count { $0.ratio < 0.95 })) {
    print(
        String(format: "%9.2f  %9.2f  %5.2f  ", line.strata, line.sqlite, line.ratio) + line.text)
}
let ratios = lines.map(\.ratio)
func share(_ bound: Double, _ ratios: [Double]) -> Int {
    ratios.count { $0 >= bound } * 100 / max(1, ratios.count)
}
print(
    "\(lines.count) requests over \(rowCount) rows, seed \(seed): \(share(0.95, ratios)) % at least 0.95 as fast as SQLite, "
        + "\(share(0.5, ratios)) % at least half, median "
        + String(format: "%.1f", lines.isEmpty ? 0 : lines[lines.count / 2].ratio))
exit(differences == 0 ? 0 : 1)
