/// How many changes a record may claim: constant columns take no bytes, so that a record's length bounds nothing, but
/// what is changed must be there.
struct ChangeBounds {
    /// Objects that the store has given keys to, before the record.
    var keyCount: Int
    /// References of one object.
    var referencesPerObject: Int

    /// As much as the format allows.
    static let none = ChangeBounds(keyCount: TransactionBody.maximumCount, referencesPerObject: 1)

    /// How many keys a store has given out, as far as that bounds anything.
    static func keyCount(_ storeState: StoreState) -> Int {
        storeState.nextKeys.reduce(0) { count, range in
            min(count + Int(clamping: range.next - 1), TransactionBody.maximumCount)
        }
    }

    /// The most references that an object of a store's schemas has.
    static func referencesPerObject(_ schemas: [NumberedSchema]) -> Int {
        var most = 1
        for schema in schemas {
            for entity in schema.schema.entities { most = max(most, entity.slots.count { $0.postingsID != 0 }) }
        }
        return most
    }

    /// Objects that a record with so many blocks may change.
    func objectMaximum(blockCount: Int) -> Int {
        min(keyCount + blockCount * BlockFormat.rowsMaximum, TransactionBody.maximumCount)
    }

    /// References that such a record may change: an object loses one and gets another.
    func referenceMaximum(blockCount: Int) -> Int {
        min(objectMaximum(blockCount: blockCount) * 2 * referencesPerObject, TransactionBody.maximumCount)
    }
}
