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
    /// Those that the process does not ignore already, as one under nohup ignores the end of its terminal.
    private let numbers: [Int32]
    private let number = Atomic<Int32>(0)
    private let sources: [any DispatchSourceSignal]

    /// From now on the signals end nothing by themselves.
    init() {
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { number in
            unsafeBitCast(signal(number, SIG_IGN), to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
        }
        sources = numbers.map { number in
            DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler {
                // The second one does not wait for what is under way.
                if self.number.exchange(number, ordering: .relaxed) != 0 {
                    signal(number, SIG_DFL)
                    kill(getpid(), number)
                }
            }
            source.resume()
        }
    }

    /// Whether one has come.
    var isSet: Bool { number.load(ordering: .relaxed) != 0 }

    /// Ends the process as the signal would have, if one has come, and gives the signals back.
    func end() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
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
