import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Notes that the process is told to end, for work that has to clean up first.
///
/// Unchecked: the sources are not touched between ``init()`` and ``end()``, which one thread calls.
final class StopSignal: @unchecked Sendable {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    private let number = Atomic<Int32>(0)
    private let sources: [any DispatchSourceSignal]

    /// From now on the signals end nothing by themselves.
    init() {
        sources = Self.numbers.map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (number, source) in zip(Self.numbers, sources) {
            source.setEventHandler { self.number.store(number, ordering: .relaxed) }
            source.resume()
        }
    }

    /// Whether one has come.
    var isSet: Bool { number.load(ordering: .relaxed) != 0 }

    /// Ends the process as the signal would have, if one has come, and gives the signals back.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.numbers { signal(number, SIG_DFL) }
        let number = number.load(ordering: .relaxed)
        guard number != 0 else { return }
        // Blocked in a process that was started by a thread in which it is.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }
}
