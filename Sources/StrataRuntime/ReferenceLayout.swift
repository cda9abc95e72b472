/// Looks at references where they lie, as `Unmanaged` or as pointers, so that none of them is counted.
///
/// Assumes: a reference to a class, strong and not optional, lies in memory as one word, the object's address; nil is
/// 0; `Unmanaged` is a struct of one such reference. So says the ABI documentation (TypeLayout.rst) of native classes.
/// If that were wrong: ``check()`` says so.
@usableFromInline
package enum ReferenceLayout {
    /// The references of a list. They stay valid as long as the list holds the objects.
    @inlinable @inline(__always)
    package static func references<Object: AnyObject>(
        _ objects: UnsafeBufferPointer<Object>
    ) -> UnsafePointer<Unmanaged<Object>>? {
        objects.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: Unmanaged<Object>.self) }
    }

    /// As ``references(_:)``, of a list with gaps.
    @inlinable @inline(__always)
    package static func references<Object: AnyObject>(
        _ objects: UnsafeBufferPointer<Object?>
    ) -> UnsafePointer<Unmanaged<Object>?>? {
        objects.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: Unmanaged<Object>?.self) }
    }

    /// The references of a list as pointers, for comparisons.
    @inlinable @inline(__always)
    package static func pointers<Object: AnyObject>(
        _ objects: UnsafeBufferPointer<Object>
    ) -> UnsafeBufferPointer<UnsafeRawPointer> {
        let base = objects.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: UnsafeRawPointer.self) }
        return UnsafeBufferPointer(start: base, count: objects.count)
    }

    /// Uninitialised elements of a list, to be filled with references that become the list's.
    @inlinable @inline(__always)
    package static func elements<Object: AnyObject>(
        _ base: UnsafeMutablePointer<Object>, capacity: Int
    ) -> UnsafeMutablePointer<Unmanaged<Object>?> {
        UnsafeMutableRawPointer(base).bindMemory(to: Unmanaged<Object>?.self, capacity: capacity)
    }

    /// The reference that lies in a place, uncounted.
    @inlinable @inline(__always)
    package static func reference<Object: AnyObject>(
        at place: UnsafeMutableRawPointer, to type: Object.Type
    ) -> Unmanaged<Object> {
        place.assumingMemoryBound(to: Unmanaged<Object>.self).pointee
    }

    // MARK: Check

    private final class Probe {}

    static func check() -> String? {
        guard MemoryLayout<Probe>.size == MemoryLayout<UnsafeRawPointer>.size,
            MemoryLayout<Unmanaged<Probe>>.size == MemoryLayout<Probe>.size,
            MemoryLayout<Unmanaged<Probe>?>.size == MemoryLayout<Probe>.size
        else { return "a reference, or an Unmanaged, is not one word" }
        let probes = [Probe(), Probe(), Probe()]
        let own = probes.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        let isSame = probes.withUnsafeBufferPointer { buffer in
            guard let references = references(buffer) else { return false }
            let pointers = pointers(buffer)
            return probes.indices.allSatisfy {
                UnsafeRawPointer(references[$0].toOpaque()) == own[$0] && pointers[$0] == own[$0]
            }
        }
        let optional: [Probe?] = [probes[0], nil]
        let isNil = optional.withUnsafeBufferPointer { buffer in
            references(buffer).map { $0[0].map { UnsafeRawPointer($0.toOpaque()) } == own[0] && $0[1] == nil } ?? false
        }
        let filled = [Probe](unsafeUninitializedCapacity: 1) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            elements(base, capacity: 1).initialize(to: .passRetained(probes[1]))
            count = 1
        }
        guard isSame, isNil, filled.first === probes[1] else {
            return "a reference is not the address of its object, or nil is not 0"
        }
        return nil
    }
}
