import Foundation

extension NSManagedObjectContext {
    /// The queue that a context works on, in the new spelling.
    public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
        /// The former spelling of the same.
        public typealias RawValue = NSManagedObjectContextConcurrencyType

        /// The former spelling of the same.
        public var rawValue: NSManagedObjectContextConcurrencyType

        /// The new spelling of a former one.
        public init(rawValue: NSManagedObjectContextConcurrencyType) {
            self.rawValue = rawValue
        }

        /// A serial queue of the context's own.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When an asynchronous ``perform(schedule:_:)`` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already.
        case immediate
        /// After everything that waits in the queue.
        case enqueued
    }
}
