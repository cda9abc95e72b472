/// What a record may claim. Columns of equal or consecutive integers take no bytes, so that a record's length bounds
/// nothing; but what came has a row in its blocks, what goes must have been there, and a reference changes with an
/// object.
///
/// Every reader of bodies goes by the room that blocks give; those who lay one record over the other also by what is
/// there. Where a log's beginning has been compacted away that is not known: then integers that take no bytes are
/// passed over as such, at a cost that goes by what is there.
struct ChangeBounds {
    /// How many objects more may be said to be new, or updated, or gone.
    private var insertMaximum: Int
    private var updateMaximum: Int
    private var changeMaximum = TransactionBody.maximumCount

    /// For a table of changes whose rows lie elsewhere, as in an archive.
    init() {
        insertMaximum = TransactionBody.maximumCount
        updateMaximum = TransactionBody.maximumCount
    }

    /// For a record with so many blocks of new and of updated rows.
    init(insertedBlockCount: Int, updatedBlockCount: Int) {
        insertMaximum = insertedBlockCount * BlockFormat.rowsMaximum
        updateMaximum = updatedBlockCount * BlockFormat.rowsMaximum
    }

    /// Takes room for changes of one kind; false where there is not so much.
    mutating func take(_ count: Int, _ kind: ChangeKind) -> Bool {
        changeMaximum -= count
        switch kind {
        case .insert: insertMaximum -= count
        case .update: updateMaximum -= count
        case .delete: break
        }
        return changeMaximum >= 0 && insertMaximum >= 0 && updateMaximum >= 0
    }

    /// The most references that an object of a store's schemas has.
    static func referencesPerObject(_ schemas: some Sequence<NumberedSchema>) -> Int {
        var most = 1
        for schema in schemas {
            for entity in schema.schema.entities { most = max(most, entity.slots.count { $0.postingsID != 0 }) }
        }
        return most
    }
}
