import StrataIO
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Kills a service of 64 clients again and again; in the end lets one finish, and looks at its memory.
///
/// Nothing that was acknowledged may be lost, and a minute after the load the process must be about as large as it was
/// before.
struct ServiceLoop {
    private static let killSeconds = 10
    /// From so many seconds on, the run has the full size: 40,000 orders, a kill every ten seconds, a minute's rest.
    private static let fullSeconds = 120
    /// What the process may be larger after its rest.
    private static let tolerance = 1.2
    /// On top of that in a short run, whose process is small: pages of code that run for the first time under load.
    private static let shortRunBytes = 16 << 20

    private let path: String
    private let seconds: Int
    private let idleSeconds: Int
    private let slotCount: Int
    private var random: UInt64
    private var acknowledged: [Int64: Int64] = [:]
    private var figures: [ServiceMessage.Figure: Int] = [:]
    private var kills = 0
    private var acknowledgements = 0

    /// - Parameter idleSeconds: how long the last process rests; nil for what belongs to the run's length.
    static func run(seconds: Int, seed: UInt64, idleSeconds: Int?) throws {
        let base = try KillLoop.makeDirectory()
        let isFull = seconds >= fullSeconds
        var loop = ServiceLoop(
            path: "\(base)/store", seconds: seconds, idleSeconds: idleSeconds ?? (isFull ? 60 : 8),
            slotCount: isFull ? 40_000 : 4_000, random: Plan.mix(seed))
        print("service loop: \(seconds) s, seed \(seed), \(loop.slotCount) orders, in \(base)")
        try loop.fill()
        try loop.killRepeatedly()
        try loop.finish()
        try KillLoop.remove(FilePath(loop.path))
        // A store may have a lock beside it.
        let files = PosixFileSystem()
        for name in try files.list(FilePath(base)) { try files.unlink(FilePath(base).appending(name)) }
        rmdir(base)
    }

    private func fill() throws {
        let child = try ChildProcess(["service-fill", path, "\(slotCount)"])
        guard child.wait() else { throw Finding(description: "filling the store failed; see above") }
    }

    private mutating func killRepeatedly() throws {
        // The last process serves for a third of a short run, and for half a minute of a long one.
        let end = Children.now() + (seconds - lastSeconds) * 1000
        let interval = min(Self.killSeconds, max(1, seconds / 5)) * 1000
        while Children.now() < end {
            random = Plan.mix(random)
            let child = try ChildProcess(["serve", path, "\(slotCount)", "\(random)"])
            // About every ten seconds; now and then while the store is being opened.
            let life = random % 8 == 0 ? Int(random >> 8) % 300 : interval / 2 + Int(random >> 8) % interval
            let death = min(Children.now() + life, end)
            while Children.now() < death {
                note(child.drain())
                if child.hasEnded { throw Finding(description: "the service has ended; see above") }
                usleep(2000)
            }
            child.end()
            note(child.numbers())
            child.wait()
            kills += 1
            acknowledged = try ServiceChecker.check(path, slotCount: slotCount, acknowledged: acknowledged)
        }
    }

    private var lastSeconds: Int { min(30, max(1, seconds / 3)) }

    private mutating func note(_ numbers: [UInt64]) {
        for index in stride(from: 0, to: numbers.count - 1, by: 2) {
            if let figure = ServiceMessage.Figure(rawValue: numbers[index]) {
                figures[figure] = Int(numbers[index + 1])
                continue
            }
            let (number, revision) = (Int64(numbers[index]), Int64(numbers[index + 1]))
            acknowledged[number] = max(acknowledged[number] ?? 0, revision)
            acknowledgements += 1
        }
    }

    /// The last process is not killed.
    private mutating func finish() throws {
        let child = try ChildProcess(
            ["serve", path, "\(slotCount)", "\(random)", "\(lastSeconds)", "\(idleSeconds)"])
        while !child.hasEnded {
            note(child.drain())
            usleep(2000)
        }
        note(child.numbers())
        guard child.wait() else { throw Finding(description: "the service failed; see above") }
        _ = try ServiceChecker.check(path, slotCount: slotCount, acknowledged: acknowledged)
        report()
        let (before, after) = (figures[.residentBefore] ?? 0, figures[.residentAfterIdling] ?? 0)
        let allowed = Double(before) * Self.tolerance + (seconds >= Self.fullSeconds ? 0 : Double(Self.shortRunBytes))
        guard before > 0, Double(after) <= allowed else {
            throw Finding(
                description: "the process had \(mebibytes(.residentBefore)) before the load and "
                    + "\(mebibytes(.residentAfterIdling)) after it had rested \(idleSeconds) s")
        }
    }

    private func report() {
        print(
            "service loop: \(kills) kills, \(acknowledgements) saves acknowledged, none lost; the last process answered "
                + "\(figures[.requests] ?? 0) requests in \(lastSeconds) s with \(figures[.conflicts] ?? 0) conflicts")
        print(
            "service loop: resident \(mebibytes(.residentBefore)) before, \(mebibytes(.residentAtEnd)) at the end, "
                + "\(mebibytes(.residentAfterIdling)) after \(idleSeconds) s of rest, "
                + "\(mebibytes(.residentAfterTrim)) after malloc_trim; "
                + "\(figures[.threadsAtEnd] ?? 0) threads at the end, \(figures[.threadsAfterIdling] ?? 0) after the rest"
        )
    }

    private func mebibytes(_ figure: ServiceMessage.Figure) -> String {
        let tenths = (figures[figure] ?? 0) * 10 / 1_048_576
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
