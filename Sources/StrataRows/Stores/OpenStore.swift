import StrataLog

/// What a store tells those who have opened it. Coordinators' stores conform, and nothing else does.
package protocol OpenStore: AnyObject {
    /// Nil before the store has been added, and after it has been removed.
    var handle: StoreHandle? { get }

    /// A part of the store could not be read.
    ///
    /// - Parameter object: whose row or value was to be read.
    func tellDamage(_ error: StoreError, _ object: ObjectRef?)

    /// The log has grown.
    func tellGrowth(to sequence: UInt64)

    /// The log cannot be followed: whoever waits for it reads, and meets the error.
    func tellFollowingFailed()
}
