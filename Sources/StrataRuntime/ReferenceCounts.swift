public import CStrataSupport

/// Takes and gives up references by the runtime's functions: where the compiler must not move them, where an object may
/// be dying, and many at a time.
///
/// Assumes: `swift_retain`, `swift_retain_n`, `swift_release_n` and `swift_tryRetain` are exported by the runtime and
/// take a pointer to a native object. They are part of its stable ABI on Apple's platforms since Swift 5.0, and what
/// the compiler itself calls on Linux; the last one is what weak references do.
/// If that were wrong: the program does not link, or ``check()`` says which count is wrong.
@usableFromInline
package enum ReferenceCounts {
    /// Takes a reference, here and now: the compiler moves no call past what lies between it and others.
    @inlinable @inline(__always)
    package static func retain(_ object: UnsafeMutableRawPointer) { strata_retain(object) }

    /// Takes that many references at once.
    @inlinable @inline(__always)
    package static func retain<Object: AnyObject>(_ object: Unmanaged<Object>, count: Int) {
        strata_retain_many(object.toOpaque(), UInt32(count))
    }

    /// Gives up that many references at once.
    @inlinable @inline(__always)
    package static func release<Object: AnyObject>(_ object: Unmanaged<Object>, count: Int) {
        strata_release_many(object.toOpaque(), UInt32(count))
    }

    /// As ``retain(_:count:)`` for an object that the caller holds.
    @inlinable @inline(__always)
    package static func retain<Object: AnyObject>(_ object: Object, count: Int) {
        retain(Unmanaged.passUnretained(object), count: count)
    }

    /// As ``release(_:count:)`` for an object that the caller holds, too.
    @inlinable @inline(__always)
    package static func release<Object: AnyObject>(_ object: Object, count: Int) {
        release(Unmanaged.passUnretained(object), count: count)
    }

    /// A reference to an object, for the caller, unless its destruction has begun: then nil.
    ///
    /// - Precondition: the caller keeps the memory from being freed meanwhile.
    @inlinable @inline(__always)
    package static func retainUnlessDying<Object: AnyObject>(
        _ object: UnsafeMutableRawPointer, as type: Object.Type
    ) -> Unmanaged<Object>? {
        strata_try_retain(object).map { .fromOpaque($0) }
    }

    // MARK: Check

    private final class Probe {
        var onDeath: (UnsafeMutableRawPointer) -> Void = { _ in }

        deinit { onDeath(Unmanaged.passUnretained(self).toOpaque()) }
    }

    static func check() -> String? {
        var (deaths, wasRevived) = (0, false)
        var probe: Probe? = Probe()
        guard let object = probe.map({ Unmanaged.passUnretained($0).toOpaque() }) else { return nil }
        probe?.onDeath = { pointer in
            deaths += 1
            wasRevived = retainUnlessDying(pointer, as: Probe.self) != nil
        }
        let reference = Unmanaged<Probe>.fromOpaque(object)
        retain(object)
        retain(reference, count: 3)
        guard retainUnlessDying(object, as: Probe.self)?.toOpaque() == object else {
            return "swift_tryRetain refuses an object that is alive"
        }
        probe = nil
        release(reference, count: 4)
        if deaths != 0 { return "swift_retain or swift_retain_n takes too few references" }
        reference.release()
        if deaths != 1 { return "swift_retain_n and swift_release_n do not agree" }
        return wasRevived ? "swift_tryRetain gives a reference to an object that is dying" : nil
    }
}
