import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// The response to the use of a context, or one of its objects, outside the context's queue.
///
/// A context copies the program's setting when it is created. The launch argument
/// `-com.apple.CoreData.ConcurrencyDebug` or the environment variable `STRATA_CONCURRENCY_DEBUG` gives the initial
/// setting: 1 means ``stop``, 0 ``off``, `warn` ``warn``. Without them it is ``warn`` in debug builds and ``off`` in
/// others.
///
/// Contexts with the confinement type belong to the thread that creates them and are not checked.
public enum ConcurrencyDebugging: Sendable {
    /// Nothing is checked.
    case off
    /// Calls of contexts, faults that fire and the first change of an object in an event are checked. The first
    /// violation of each context, and of the program the first sixteen, are written to the standard error.
    case warn
    /// As ``report(_:)``, and the first violation stops the program.
    case stop
    /// All of ``warn``, and also each time that a property is read or set. Every violation is handed to the function,
    /// on the thread that it happens on; then the call goes on.
    case report(@Sendable (String) -> Void)

    /// What the program was started with.
    static func initial(arguments: [String], environment: [String: String]) -> ConcurrencyDebugging {
        if let index = arguments.firstIndex(of: argument), index + 1 < arguments.count,
            let mode = ConcurrencyDebugging(arguments[index + 1])
        {
            return mode
        }
        if let value = environment[variable], let mode = ConcurrencyDebugging(value) { return mode }
        #if DEBUG
        // A package is built as the program that uses it is, so that this is a debug build of the program, too.
        return .warn
        #else
        return .off
        #endif
    }

    private static let argument = "-com.apple.CoreData.ConcurrencyDebug"
    private static let variable = "STRATA_CONCURRENCY_DEBUG"

    /// Of the process's environment what counts. Foundation would read all of it, while a store is opened.
    fileprivate static var environment: [String: String] {
        getenv(variable).map { [variable: String(cString: $0)] } ?? [:]
    }

    private init?(_ text: String) {
        switch text.lowercased() {
        case "0", "no", "false", "off": self = .off
        case "warn": self = .warn
        // Core Data knows more than one level.
        case "1", "2", "3", "yes", "true", "stop": self = .stop
        default: return nil
        }
    }

    /// Whether each access to an object is checked.
    var isStrict: Bool {
        switch self {
        case .off, .warn: false
        case .stop, .report: true
        }
    }

    var isOff: Bool {
        if case .off = self { true } else { false }
    }
}

/// The program's setting, and how much has been said.
enum ConcurrencyMonitor {
    private static let setting = AdaptiveMutex(
        ConcurrencyDebugging.initial(
            arguments: CommandLine.arguments, environment: ConcurrencyDebugging.environment))
    /// Whether the setting is `off`: 1 or 0, -1 before the first read. Every new context reads it, and a service makes
    /// one for each request: a lock that all its threads take would slow them down.
    private static let known = Atomic<Int>(-1)

    static var mode: ConcurrencyDebugging {
        get { setting.withLock { $0 } }
        set {
            setting.withLock {
                $0 = newValue
                known.store(newValue.isOff ? 1 : 0, ordering: .releasing)
            }
        }
    }

    static var isOff: Bool {
        let known = known.load(ordering: .acquiring)
        if known >= 0 { return known == 1 }
        return setting.withLock {
            Self.known.store($0.isOff ? 1 : 0, ordering: .releasing)
            return $0.isOff
        }
    }

    /// How many warnings may still be written: a program that always goes wrong need not be told so for ever.
    private static let warningsLeft = Atomic<Int>(16)

    static func report(_ message: String, in context: NSManagedObjectContext) {
        switch mode {
        case .off: return
        case .report(let handler): handler(message)
        case .stop: programmerError("NSManagedObjectContext", message, "Use perform(_:) or performAndWait(_:)")
        case .warn:
            guard context.violationWarned.exchange(true, ordering: .relaxed) == false,
                warningsLeft.wrappingSubtract(1, ordering: .relaxed).newValue >= 0
            else { return }
            let advice = "Start the program with -com.apple.CoreData.ConcurrencyDebug 1 to stop at the place."
            StandardDescriptors.writeError("warning: \(message) \(advice)\n")
        }
    }
}

extension NSManagedObjectContext {
    /// What happens when contexts that are made from now on, or their objects, are used outside of their queue.
    ///
    /// Safe to use from any thread.
    public static var concurrencyDebugging: ConcurrencyDebugging {
        get { ConcurrencyMonitor.mode }
        set { ConcurrencyMonitor.mode = newValue }
    }

    /// Takes over the program's setting; part of making a context.
    final func adoptConcurrencyDebugging() {
        guard queueType == .mainQueueConcurrencyType || queueType == .privateQueueConcurrencyType else {
            return
        }
        if ConcurrencyMonitor.isOff { return }
        checksQueue = true
        if Self.concurrencyDebugging.isStrict { registry.registrationFlags.formUnion([.confined, .observable]) }
    }

    /// For a context that has no objects yet, and does not leave the thread that has made it.
    final func leaveUnchecked() {
        checksQueue = false
        if registry.registrationFlags.contains(.confined) {
            registry.registrationFlags.subtract([.confined, .observable])
        }
    }

    /// Reports a call that is not made on the context's queue. For calls that programs make.
    @inline(__always)
    final func checkQueue(_ call: StaticString = #function) {
        if checksQueue { checkQueue(call, nil) }
    }

    /// The context, after ``checkQueue(_:)``.
    @inline(__always)
    final func onQueue(_ call: StaticString = #function) -> NSManagedObjectContext {
        checkQueue(call)
        return self
    }

    /// As ``checkQueue(_:)``, of an access to one of the context's objects.
    @inline(never)
    final func checkQueue(_ call: StaticString, _ object: NSManagedObject?) {
        if queue.isCurrent { return }
        let kind = queueType == .mainQueueConcurrencyType ? "main queue" : "private queue"
        // Nothing of the context's but what never changes, if it can be helped: another thread may be at work in it.
        let place =
            "the context \(name.map { "\"\($0)\" " } ?? "")(\(kind), \(ObjectIdentifier(self).debugDescription))"
        let subject = object.map { "\(call) of the object \(describe($0)) in \(place)" } ?? "\(call) of \(place)"
        ConcurrencyMonitor.report(
            "CoreData concurrency violation: \(subject) was called outside of its queue, on \(Thread.current). Use "
                + "perform or performAndWait.", in: self)
    }

    /// A change of an object is about to be noted.
    final func checkChange(_ object: NSManagedObject) {
        checkQueue("a change", object)
        // Kept from being written without a word to the context, so that the next change comes here, too.
        if object.flags.contains(.confined) { object.flags.remove(.unobserved) }
    }

    /// Entity and ID, without the object being changed by it.
    private final func describe(_ object: NSManagedObject) -> String {
        let identity = registry.handle(object.storeIndex)?.identity
        let id = object.cachedID ?? NSManagedObjectID(ref: object.ref, identity: identity, shape: object.shape)
        return "\(object.shape.name) \(id)"
    }
}

extension NSManagedObject {
    /// Reports an access that is not made on the queue of the object's context, if every access is checked.
    @inline(__always)
    final func checkQueue(_ call: StaticString = #function) {
        if flags.contains(.confined) { registry?.context?.checkQueue(call, self) }
    }
}
