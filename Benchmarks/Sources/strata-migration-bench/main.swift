import BenchSupport
import Foundation

// strata-migration-bench run FOLDER COUNT [RUNS]: everything, in processes of its own; medians, smallest and largest.
// strata-migration-bench STEP FOLDER COUNT: one step.

let arguments = CommandLine.arguments
guard arguments.count >= 4, let count = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("strata-migration-bench run|STEP FOLDER COUNT [RUNS]\n".utf8))
    exit(64)
}
let folder = Folder(arguments[2])

if let step = Step(rawValue: arguments[1]) {
    try step.run(folder, count)
} else {
    let runs = arguments.count > 4 ? Int(arguments[4]) ?? 3 : 3
    var figures: [String: [Double]] = [:]
    var order: [String] = []
    func spawn(_ step: Step) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [step.rawValue, folder.path, String(count)]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchFailure("\(step.rawValue) failed") }
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count == 5, let value = Double(fields[3]), fields[4] != "digest" else { continue }
            let key = "\(fields[1]) \(fields[2]) (\(fields[4]))"
            if figures[key] == nil { order.append(key) }
            figures[key, default: []].append(value)
        }
    }
    try spawn(.fill)
    for _ in 0..<runs {
        for step in Step.allCases where step != .fill { try spawn(step) }
    }
    for key in order {
        guard let values = figures[key] else { continue }
        print(
            key, String(format: "%.6g (%.6g to %.6g)", median(values), values.min() ?? 0, values.max() ?? 0),
            separator: "\t")
    }
    try folder.remove()
}
