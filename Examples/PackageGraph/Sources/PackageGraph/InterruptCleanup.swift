import Dispatch
import Foundation

/// Removes a temporary store when the user stops the program.
final class InterruptCleanup {
    private var sources: [any DispatchSourceSignal] = []

    /// From now until the instance goes, SIGINT and SIGTERM remove the place's temporary folder and end the program.
    init(_ place: StoreLocation) {
        for signalNumber in [SIGINT, SIGTERM] {
            signal(signalNumber, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: .global())
            source.setEventHandler {
                place.removeIfTemporary()
                FileHandle.standardError.write(Data("\nstopped\n".utf8))
                // The number a shell gives a program that the signal has ended.
                exit(128 + signalNumber)
            }
            source.resume()
            sources.append(source)
        }
    }

    deinit { for source in sources { source.cancel() } }
}
