/// What a managed object is at the moment.
@usableFromInline
struct ObjectFlags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32

    @inlinable
    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Values can be read without asking the store: not a fault.
    @usableFromInline static let realized = ObjectFlags(rawValue: 1)
    @usableFromInline static let inserted = ObjectFlags(rawValue: 1 << 1)
    @usableFromInline static let updated = ObjectFlags(rawValue: 1 << 2)
    @usableFromInline static let deleted = ObjectFlags(rawValue: 1 << 3)
    /// In the context's list of changed objects, which retains it.
    @usableFromInline static let listed = ObjectFlags(rawValue: 1 << 4)
    /// In the context's list of objects changed since pending changes were processed.
    @usableFromInline static let inEvent = ObjectFlags(rawValue: 1 << 5)
    /// The row could not be read; the context knows the error.
    @usableFromInline static let unreadable = ObjectFlags(rawValue: 1 << 6)
    /// In the registry's table.
    @usableFromInline static let registered = ObjectFlags(rawValue: 1 << 7)
    /// Some slot of the overlay is dirty.
    @usableFromInline static let dirtySlots = ObjectFlags(rawValue: 1 << 8)
    /// Some to-many relationship has changes of its own.
    @usableFromInline static let dirtyToMany = ObjectFlags(rawValue: 1 << 9)
    /// Slots that the overlay does not hold have their default values: the object was inserted in this life.
    @usableFromInline static let defaultsBelow = ObjectFlags(rawValue: 1 << 10)
    /// In awakeFromFetch: what is set is not a change.
    @usableFromInline static let awaking = ObjectFlags(rawValue: 1 << 11)
    /// The deletion has been propagated along the relationships.
    @usableFromInline static let deletePropagated = ObjectFlags(rawValue: 1 << 12)
    /// The deletion has been saved, or the row is gone.
    @usableFromInline static let gone = ObjectFlags(rawValue: 1 << 13)
    /// The row the object holds is the one it last saved or read: committed values can be taken from it.
    @usableFromInline static let rowIsCommitted = ObjectFlags(rawValue: 1 << 14)
    /// Reported as inserted by an objects-did-change notification.
    @usableFromInline static let insertReported = ObjectFlags(rawValue: 1 << 15)
    /// willSave has been called in the save that runs.
    @usableFromInline static let willSaveCalled = ObjectFlags(rawValue: 1 << 16)
    /// What is read of the object says what will be read of the next ones; see ``ReadSampling``.
    @usableFromInline static let sampled = ObjectFlags(rawValue: 1 << 17)
    /// A slot was given a number that it has no room for; see ``NumbersOutOfRange``.
    static let numberOutOfRange = ObjectFlags(rawValue: 1 << 18)
    /// The object's deletion has been saved, and it has left its context for that.
    static let deletionSaved = ObjectFlags(rawValue: 1 << 19)
    /// The Observation module may be tracking reads.
    static let tracked = ObjectFlags(rawValue: 1 << 22)
    /// Every access is to be checked to come from the context's queue; see ``ConcurrencyDebugging``.
    static let confined = ObjectFlags(rawValue: 1 << 23)
    /// A child context knows the object by its temporary ID.
    @usableFromInline static let knownToChildren = ObjectFlags(rawValue: 1 << 24)
    /// From a custom store, which wants to know when it leaves its context.
    static let fromCustomStore = ObjectFlags(rawValue: 1 << 25)
    /// Realized because of a refresh.
    static let refreshing = ObjectFlags(rawValue: 1 << 26)
    /// Part of a save that has just been committed: didSave is due.
    static let saved = ObjectFlags(rawValue: 1 << 27)
    /// In prepareForDeletion.
    static let preparingDeletion = ObjectFlags(rawValue: 1 << 28)
    /// Stands for one row after the other in a batch insert: the other ends of its relationships are not told.
    static let scratch = ObjectFlags(rawValue: 1 << 29)
    /// The context wants to know of reads, since somebody may be tracking them, or they are confined to its queue.
    @usableFromInline static let observable = ObjectFlags(rawValue: 1 << 30)
    /// Nobody has ever asked to hear of this object's changes.
    @usableFromInline static let unobserved = ObjectFlags(rawValue: 1 << 31)

    // Sets that accessors in other modules ask for are computed: a stored one is initialised when it is first used,
    // which each access would ask about.

    /// With all of these a slot can be written without telling anybody.
    @inlinable static var writable: ObjectFlags { ObjectFlags(rawValue: 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 31) }
    /// With all of these a to-many relationship of an object that is pending can change without telling anybody.
    static let toManyWritable: ObjectFlags = [.listed, .inEvent, .dirtyToMany, .unobserved]
    static let tracking: ObjectFlags = [.observable, .tracked]
    /// Reads of a slot of an object with one of these are noted.
    @inlinable static var readsNoted: ObjectFlags { ObjectFlags(rawValue: 1 << 30 | 1 << 17) }
    static let pending: ObjectFlags = [.inserted, .updated, .deleted]
}
