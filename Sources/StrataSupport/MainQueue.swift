internal import CStrataSupport
internal import Dispatch

/// Tells the main queue from others. Its thread does not tell enough: in a program whose main function is asynchronous,
/// the main thread ends and others serve the main queue.
package enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller is served by the main queue: as long as the main thread lives, it runs nothing else.
    package static var isCurrent: Bool { strata_thread_is_main() != 0 || DispatchQueue.getSpecific(key: key) == true }
}
