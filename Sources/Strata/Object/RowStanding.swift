import StrataLog

/// What an object has in its store: nothing yet, a reference that is reserved for it, or a row.
///
/// Which of the last two it is, the object's store index says: 0 while it has no row. Both lie in the same memory, since
/// there is a standing in each object.
struct RowStanding {
    /// An absent location and the null reference are both zero.
    private var word: UInt64 = 0
    private var sequence: UInt64 = 0

    static let none = RowStanding()

    /// The row version that the next save replaces.
    @inline(__always)
    var version: RowVersion {
        get { RowVersion(location: Location(rawValue: word), sequence: sequence) }
        set { (word, sequence) = (newValue.location.rawValue, newValue.sequence) }
    }

    /// The reference that the object is going to have; null when none has been reserved.
    @inline(__always)
    var reserved: ObjectRef {
        get { ObjectRef(rawValue: word) }
        set { (word, sequence) = (newValue.rawValue, 0) }
    }
}

extension NSManagedObject {
    /// The row version that the next save replaces; `none` for an object without a row.
    @inline(__always)
    final var version: RowVersion {
        get {
            assert(storeIndex != 0 || standing.reserved.isNull, "an object with a reserved key has no version")
            return standing.version
        }
        set { standing.version = newValue }
    }

    /// The reference that has been reserved for an object without a row; null if none has been.
    @inline(__always)
    final var reservedRef: ObjectRef {
        get {
            assert(storeIndex == 0, "an object with a row has its reference")
            return standing.reserved
        }
        set { standing.reserved = newValue }
    }

    /// The reference that the object has once it is saved.
    ///
    /// - Precondition: it is permanent, or a key has been reserved for it.
    @inline(__always)
    final var futureRef: ObjectRef { storeIndex == 0 ? reservedRef : ref }
}
