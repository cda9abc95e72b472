import CStrataSupport
import StrataRuntime

/// How many objects ahead the processor is asked for one: thousands of objects are in no cache that is quick, and lie
/// wherever the heap had room.
let objectsAhead = 8

extension ContiguousArray where Element == NSManagedObject {
    /// Calls `body` with each object in order, without counting a reference for each: the array holds them all, and
    /// stays as it is whatever `body` does to the variable that it came from.
    @inline(__always)
    func forEachUnretained(_ body: (NSManagedObject) throws -> Void) rethrows {
        try forEachUnretained(0..<count, body)
    }

    /// As ``forEachUnretained(_:)``, for some of the objects.
    @inline(__always)
    func forEachUnretained(_ range: Range<Int>, _ body: (NSManagedObject) throws -> Void) rethrows {
        try withUnsafeBufferPointer { buffer in
            guard let objects = ReferenceLayout.references(buffer) else { return }
            let last = buffer.count - 1
            for index in range {
                let ahead = objects[Swift.min(index + objectsAhead, last)].toOpaque()
                strata_prefetch(ahead)
                strata_prefetch(ahead + 64)
                try objects[index].withBorrowed { try body($0) }
            }
        }
    }

    /// Calls `body` with the objects as pointers, for comparisons without counting references.
    @inline(__always)
    func withObjectPointers(_ body: (UnsafeBufferPointer<UnsafeRawPointer>) -> Void) {
        withUnsafeBufferPointer { body(ReferenceLayout.pointers($0)) }
    }
}

/// Whether an existential holds a reference to `object` itself, when that can be seen without a cast: nil if not.
///
/// Sets ask for each collision; a cast from `Any` costs more than everything else about an insertion.
@inline(__always)
func isReference(_ any: Any, to object: AnyObject) -> Bool? {
    guard type(of: any) == (type(of: object) as Any.Type) else { return nil }
    // A value whose type is a class is a reference.
    return ExistentialLayout.reference(in: any) == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
}
