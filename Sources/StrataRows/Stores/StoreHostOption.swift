import Foundation

/// A ``StoreHost`` as the value of an option of a store's description, which takes objects.
package final class StoreHostOption: NSObject, Sendable {
    package let host: StoreHost

    package init(_ host: StoreHost) {
        self.host = host
    }
}
