import Dispatch
import Foundation
import StrataSupport

/// Where the blocks of a context or a coordinator run.
///
/// Code that runs on a queue knows all queues that it holds: a block that was waited for, on whatever thread it runs,
/// holds the queues of whoever waits. So a child context can go to its parent's queue, and the parent's block back
/// to the child's, without waiting for itself. Threads that find a queue taken wait as ``WaitGraph`` says.
///
/// The main queue is Dispatch's. The others are ``SerialQueue``s, which share the threads of ``ContextPool``.
final class ContextQueue: Sendable {
    /// Nil for the main queue.
    private let queue: SerialQueue?

    init(_ type: NSManagedObjectContextConcurrencyType) {
        queue = type == .mainQueueConcurrencyType ? nil : SerialQueue()
    }

    /// Whether the caller runs on this queue.
    var isCurrent: Bool {
        if queue == nil { return MainQueue.isCurrent || Frame.current?.holdsMain == true }
        return Frame.current?.holds(self) ?? false
    }

    /// Whether the caller runs on the main queue.
    static var isOnMain: Bool { MainQueue.isCurrent }

    /// The context whose block the calling thread runs, if any.
    static var currentContext: NSManagedObjectContext? { Frame.current?.context }

    /// Whether the calling thread is inside a block of a context, be it that others run inside of that.
    static func isInside(_ context: NSManagedObjectContext) -> Bool {
        var frame = Frame.current
        while let held = frame {
            if held.context === context { return true }
            frame = held.outer
        }
        return false
    }

    /// The context of a coordinator whose block runs on the calling thread, and is not inside of another such block.
    static func outermostContext(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext? {
        var outermost: NSManagedObjectContext?
        var frame = Frame.current
        while let held = frame {
            if held.context?.coordinator === coordinator { outermost = held.context }
            frame = held.outer
        }
        return outermost
    }

    /// What may stop the requests that the calling thread makes, if anything.
    static var currentControl: RequestControl? { Frame.current?.control }

    /// Runs a block on the queue, later.
    ///
    /// - Parameter context: nil for a block of a coordinator.
    func async(for context: NSManagedObjectContext?, _ block: @escaping () -> Void) {
        enqueue(for: context, control: nil, Self.carryingTaskLocals(block))
    }

    /// As ``async(for:_:)``, without what the calling task has bound: for a block that brings its task along.
    ///
    /// - Parameters:
    ///   - context: nil for a block of a coordinator.
    ///   - control: what may stop the block's requests.
    func enqueue(for context: NSManagedObjectContext?, control: RequestControl?, _ block: @escaping () -> Void) {
        // The frame is made on the queue: nobody waits for the block, so that it holds nothing else.
        guard let queue else {
            let box = UncheckedBox((context, block))
            // The main thread may wait in the middle of something, for instance in a run loop of its own.
            DispatchQueue.main.async { [self] in
                EventParts.apart { Frame.run(Frame(self, box.value.0, nil, control), box.value.1) }
            }
            return
        }
        queue.async { [self] in Frame.run(Frame(self, context, nil, control), block) }
    }

    /// The block with those of the calling task's values that whoever listens has in it: it may run on a thread that
    /// knows nothing of the task.
    private static func carryingTaskLocals(_ block: @escaping () -> Void) -> () -> Void {
        guard EventHub.wants(.taskLocals), let scope = EventHub.capture() else { return block }
        return { scope(block) }
    }

    /// Runs a block on the queue, later, on behalf of no context.
    func async(_ block: @escaping () -> Void) {
        if let queue { return queue.async(block) }
        let box = UncheckedBox(block)
        DispatchQueue.main.async { box.value() }
    }

    /// Runs a body whose requests another control may stop. The caller is on the queue.
    func controlled<T, Failure: Error>(
        by control: RequestControl, for context: NSManagedObjectContext, _ body: () throws(Failure) -> T
    ) throws(Failure) -> T {
        guard Frame.current?.control !== control, isCurrent else { return try body() }
        return try Frame.run(Frame(self, context, Frame.current, control), body)
    }

    /// Runs a block of a context on the queue and waits; at once when the caller holds the queue already.
    ///
    /// Who waits lends its queues to what it waits for; see ``WaitGraph``.
    ///
    /// - Parameters:
    ///   - context: nil for a block of a coordinator.
    ///   - isQuestion: whether a child asks its parent something.
    func sync<T>(for context: NSManagedObjectContext?, isQuestion: Bool = false, _ block: () -> T) -> T {
        let outer = Frame.current
        if let context, outer?.context === context { return block() }
        let frame = Frame(self, context, outer, outer?.control)
        if isCurrent { return Frame.run(frame, block) }
        guard let queue, queue.enter() else { return wait(frame, isQuestion, block) }
        defer { queue.leave() }
        return Frame.run(frame, block)
    }

    private func wait<T>(_ frame: Frame, _ isQuestion: Bool, _ block: () -> T) -> T {
        withoutActuallyEscaping(block) { block in
            var result: T?
            let target = queue.map { QueueWait.Target.queue($0) } ?? .main
            // Another thread that waits may run it, within what that has bound.
            let body = Self.carryingTaskLocals { result = block() }
            let wait = QueueWait(for: target, isOnMain: Self.isOnMain, isQuestion: isQuestion, frame.control) {
                frame.lender = Frame.current
                EventParts.apart { Frame.run(frame, body) }
            }
            defer { wait.discard() }
            guard let queue else {
                DispatchQueue.main.async { WaitGraph.shared.mainQueueRuns(wait) }
                WaitGraph.shared.await(wait)
                guard let result else { preconditionFailure("a block of the main queue was not run") }
                return result
            }
            if !queue.enter(wait) { WaitGraph.shared.await(wait) }
            if let result { return result }
            defer { queue.leave() }
            return Frame.run(frame, block)
        }
    }
}

/// One of the blocks that the calling thread is inside of.
private final class Frame {
    let queue: ContextQueue
    /// Of a coordinator's block: that of the block around it, if any.
    let context: NSManagedObjectContext?
    let outer: Frame?
    /// The block that the thread was inside of, of another one that waits, when this one was lent to it.
    var lender: Frame? {
        didSet { if lender?.holdsMain == true { holdsMain = true } }
    }
    /// What may stop the block's requests.
    let control: RequestControl?
    /// Whether the block was called on the main queue, or by one that was.
    private(set) var holdsMain: Bool

    init(_ queue: ContextQueue, _ context: NSManagedObjectContext?, _ outer: Frame?, _ control: RequestControl?) {
        self.queue = queue
        self.context = context ?? outer?.context
        self.outer = outer
        self.control = control
        holdsMain = outer?.holdsMain ?? MainQueue.isCurrent
    }

    /// Whether the block holds a queue, or who waits for it, or lends to it.
    func holds(_ queue: ContextQueue) -> Bool {
        var frame: Frame? = self
        while let held = frame {
            if held.queue === queue || held.lender?.holds(queue) == true { return true }
            frame = held.outer
        }
        return false
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key, nil)
        precondition(result == 0, "the process has no thread-specific keys left")
        return key
    }()

    /// The innermost block.
    static var current: Frame? {
        pthread_getspecific(key).map { Unmanaged<Frame>.fromOpaque($0).takeUnretainedValue() }
    }

    static func run<T, Failure: Error>(_ frame: Frame, _ block: () throws(Failure) -> T) throws(Failure) -> T {
        let outer = pthread_getspecific(key)
        // The frame lives as long as this call, which takes it out again.
        pthread_setspecific(key, Unmanaged.passUnretained(frame).toOpaque())
        defer { pthread_setspecific(key, outer) }
        defer { withExtendedLifetime(frame) {} }
        return try block()
    }
}
