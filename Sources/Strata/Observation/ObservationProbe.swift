import Observation
import Synchronization

/// Finds out whether the calling thread is inside of `withObservationTracking`, which the Observation module does not
/// say.
///
/// An access that is being tracked is put into a set of key paths, which asks the key path for its hash; the probe's
/// key path has an argument that notices. Another thread's tracking may be taken for one's own, which costs time and
/// nothing else.
final class ObservationProbe {
    private var registrar = ObservationRegistrar()
    /// Trackings that are never called back stay with the registrar that noticed them. So there is a new one now and
    /// then, and the one before the last is let go: the observed objects have registrars of their own.
    private var previous: ObservationRegistrar?
    private var noticed = 0
    private static let noticedMaximum = 1_024

    private static let subject = Subject()
    private static let path: any KeyPath<Subject, Int> & Sendable = \Subject.[Spy()]

    private final class Subject: Observable, Sendable {
        subscript(_ spy: Spy) -> Int { 0 }
    }

    private struct Spy: Hashable, Sendable {
        static let count = Atomic<Int>(0)

        func hash(into hasher: inout Hasher) { Self.count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Whether accesses made now on this thread are being tracked. Some nanoseconds if not.
    var isTracking: Bool {
        let before = Spy.count.load(ordering: .relaxed)
        registrar.access(Self.subject, keyPath: Self.path)
        if Spy.count.load(ordering: .relaxed) == before { return false }
        noticed += 1
        if noticed == Self.noticedMaximum {
            previous = registrar
            registrar = ObservationRegistrar()
            noticed = 0
        }
        return true
    }
}
