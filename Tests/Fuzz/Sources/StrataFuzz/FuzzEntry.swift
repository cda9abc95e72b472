import Foundation
import Synchronization

/// The target that `STRATA_FUZZ_TARGET` names, chosen when libFuzzer starts.
private let chosen = Mutex<FuzzTarget?>(nil)

/// Chooses the target. With `STRATA_FUZZ_LIST` prints the targets' names and longest inputs instead, with
/// `STRATA_FUZZ_SEEDS` writes the target's seeds into that directory, and ends the process.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    if environment["STRATA_FUZZ_LIST"] != nil {
        for target in FuzzTarget.all { print(target.name, target.maximumByteCount) }
        exit(0)
    }
    guard let name = environment["STRATA_FUZZ_TARGET"],
        let target = FuzzTarget.all.first(where: { $0.name == name })
    else {
        print("STRATA_FUZZ_TARGET must be one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
        exit(2)
    }
    if let directory = environment["STRATA_FUZZ_SEEDS"] {
        do {
            for (index, seed) in try target.seeds().enumerated() {
                try Data(seed).write(to: URL(fileURLWithPath: directory).appendingPathComponent("seed-\(index)"))
            }
            exit(0)
        } catch {
            print("could not write the seeds of \(name): \(error)")
            exit(2)
        }
    }
    chosen.withLock { $0 = target }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    chosen.withLock { $0 }?.run(input)
    return 0
}
