internal import CStrataSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Threads of our own: Dispatch's are for work that does not wait.
package enum PoolThread {
    /// Runs a body on a new thread. False when the system has none to give.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        final class Box: Sendable {
            let name: String
            let body: @Sendable () -> Void
            init(_ name: String, _ body: @escaping @Sendable () -> Void) {
                self.name = name
                self.body = body
            }
        }
        let box = Unmanaged.passRetained(Box(name, body))
        let result = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress else { return EINVAL }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            #if canImport(Darwin)
            var thread: pthread_t?
            #else
            var thread: pthread_t = 0
            #endif
            return pthread_create(
                &thread, attributes,
                { context in
                    #if !canImport(Darwin)
                    guard let context else { return nil }
                    #endif
                    let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                    strata_thread_set_name(box.name)
                    box.body()
                    return nil
                }, box.toOpaque())
        }
        if result != 0 { box.release() }
        return result == 0
    }
}
