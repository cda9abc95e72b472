internal import CStrataSupport
internal import Dispatch

/// Tells the main queue from others. Which thread it runs on says nothing: in a program whose main function is
/// asynchronous, the main thread ends and others serve the main queue.
package enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller is served by the main queue.
    package static var isCurrent: Bool { strata_thread_is_main() != 0 || DispatchQueue.getSpecific(key: key) == true }
}
