import StrataLog

/// What an object has in its store.
enum RowStanding {
    case none
    /// No row yet, but the reference that it is going to have. A reference once reserved stays with its object through
    /// failed saves.
    case reserved(ObjectRef)
    /// A row: the version that the next save replaces.
    case row(RowVersion)
}

extension NSManagedObject {
    /// The row version that the next save replaces; `none` for an object without a row.
    @inline(__always)
    final var version: RowVersion {
        get {
            if case .row(let version) = standing { return version }
            return .none
        }
        set { standing = .row(newValue) }
    }

    /// The reference that has been reserved for an object without a row; null if none has been.
    @inline(__always)
    final var reservedRef: ObjectRef {
        get {
            if case .reserved(let ref) = standing { return ref }
            return .null
        }
        set { standing = .reserved(newValue) }
    }

    /// The reference that the object has once it is saved.
    ///
    /// - Precondition: it is permanent, or a key has been reserved for it.
    @inline(__always)
    final var futureRef: ObjectRef { storeIndex == 0 ? reservedRef : ref }
}
