import CStrataSupport

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
            guard let base = buffer.baseAddress else { return }
            // SAFETY: an Unmanaged has the layout of the reference it stands for.
            let objects = UnsafeRawPointer(base).assumingMemoryBound(to: Unmanaged<NSManagedObject>.self)
            let last = buffer.count - 1
            for index in range {
                let ahead = objects[Swift.min(index + objectsAhead, last)].toOpaque()
                strata_prefetch(ahead)
                strata_prefetch(ahead + 64)
                try objects[index]._withUnsafeGuaranteedRef { try body($0) }
            }
        }
    }

    /// Calls `body` with the objects as pointers, for comparisons without counting references.
    @inline(__always)
    func withObjectPointers(_ body: (UnsafeBufferPointer<UnsafeRawPointer>) -> Void) {
        withUnsafeBufferPointer { buffer in
            // SAFETY: a reference to an object has the layout of a pointer.
            let base = buffer.baseAddress.map {
                UnsafeRawPointer($0).assumingMemoryBound(to: UnsafeRawPointer.self)
            }
            body(UnsafeBufferPointer(start: base, count: buffer.count))
        }
    }
}

/// Whether an existential holds a reference to `object` itself, when that can be seen without a cast: nil if not.
///
/// Sets ask for each collision; a cast from `Any` costs more than everything else about an insertion.
@inline(__always)
func isReference(_ any: Any, to object: AnyObject) -> Bool? {
    guard type(of: any) == (type(of: object) as Any.Type) else { return nil }
    // `as Any` keeps the existential from being opened.
    // SAFETY: a value whose type is a class is a reference, which lies in the first word of the existential: three
    // words for the value, one for its type.
    let words = unsafeBitCast(any as Any, to: (UInt, UInt, UInt, UInt).self)
    return words.0 == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
}
